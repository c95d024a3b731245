import Foundation

/// The steps of a reply, in order. Pure: the connection performs them.
struct ReplyPlan {
    enum Step {
        /// Counts the reply as begun, with this status.
        case begin(status: Int)
        /// Bytes, and which of them are content.
        case send(Data, content: Range<Int>)
        case wait(Gate)
        case delay(TimeInterval)
        /// The same bytes again and again.
        case repeatForever(Data, content: Range<Int>)
        /// The same steps this many times, or until the client disconnects if the number is nil.
        case again([Step], times: Int?)
        /// Sends nothing more, until the client disconnects.
        case hold
        /// FIN.
        case close
        /// RST.
        case reset
    }

    private(set) var steps: [Step] = []
    private let reply: Reply
    private let request: RecordedRequest

    init(_ scripted: Reply, to request: RecordedRequest, serverLatency: TimeInterval = 0) {
        reply = scripted.applied(to: request)
        self.request = request
        let latency = serverLatency + reply.latency
        if latency > 0 { steps.append(.delay(latency)) }
        guard pass(.beforeHead) else { return }
        steps.append(.begin(status: reply.status))
        if let script = reply.script {
            steps += script.map(Step.init)
        } else {
            addHead()
        }
        joinHeadAndBody()
    }

    // MARK: Head

    private mutating func addHead() {
        let head = ReplyHead(reply, to: request, closes: closesConnection).bytes
        let half = head.count / 2
        if stops(at: .midHead) {
            steps.append(.send(head.prefix(half), content: 0..<0))
            guard pass(.midHead) else { return }
            steps.append(.send(head.dropFirst(half), content: 0..<0))
        } else {
            steps.append(.send(head, content: 0..<0))
        }
        guard pass(.afterHead) else { return }
        addBody()
    }

    private func stops(at moment: Reply.Moment) -> Bool {
        reply.gates.contains { $0.moment == moment } || terminal(at: moment) != nil
    }

    // MARK: Body

    private mutating func addBody() {
        let content = ReplyBody(reply, to: request)
        var offset = 0
        for piece in content.pieces {
            guard add(piece, at: &offset) else { return }
        }
        guard passRest(from: offset) else { return }
        if let endless = content.endless {
            steps.append(.repeatForever(endless.bytes, content: endless.content))
        } else if !content.end.isEmpty {
            steps.append(.send(content.end, content: 0..<0))
        }
        if closesConnection { steps.append(.close) }
    }

    /// Adds a piece, with a stop at every moment in it or at its end. Returns false if the reply ends there.
    private mutating func add(_ piece: ReplyBody.Piece, at offset: inout Int) -> Bool {
        var sent = 0
        for cut in stops(after: offset, upTo: offset + piece.content.count) {
            let isEnd = cut == offset + piece.content.count
            send(piece, from: sent, to: isEnd ? piece.bytes.count : piece.content.lowerBound + cut - offset)
            sent = isEnd ? piece.bytes.count : piece.content.lowerBound + cut - offset
            guard pass(.afterBody(cut)) else { return false }
        }
        send(piece, from: sent, to: piece.bytes.count)
        offset += piece.content.count
        return true
    }

    private mutating func send(_ piece: ReplyBody.Piece, from start: Int, to end: Int) {
        guard end > start else { return }
        let content = piece.content.clamped(to: start..<end)
        let bytes = piece.bytes.dropFirst(start).prefix(end - start)
        steps.append(.send(bytes, content: content.lowerBound - start..<content.upperBound - start))
    }

    private var bodyMoments: [Int] {
        var moments = reply.gates.map(\.moment)
        switch reply.fault {
        case .silence(let moment), .close(let moment), .reset(let moment): moments.append(moment)
        default: break
        }
        return moments.compactMap { if case .afterBody(let count) = $0 { count } else { nil } }
    }

    private func stops(after start: Int, upTo end: Int) -> [Int] {
        Set(bodyMoments).filter { $0 > start && $0 <= end }.sorted()
    }

    /// Adds the gates and faults of the moments beyond the end of the body. Returns false if the reply ends there.
    private mutating func passRest(from offset: Int) -> Bool {
        for moment in Set(bodyMoments).sorted() where moment > offset {
            guard pass(.afterBody(moment)) else { return false }
        }
        return true
    }

    // MARK: Moments

    /// Adds the gates and faults of a moment. Returns false if the reply ends there.
    private mutating func pass(_ moment: Reply.Moment) -> Bool {
        let atHead: [Reply.Moment] = [.afterHead, .afterBody(0)]
        let moments = atHead.contains(moment) ? atHead : [moment]
        for gated in reply.gates where moments.contains(gated.moment) { steps.append(.wait(gated.gate)) }
        guard let end = moments.compactMap(terminal(at:)).first else { return true }
        steps.append(end)
        return false
    }

    private func terminal(at moment: Reply.Moment) -> Step? {
        switch reply.fault {
        case .silence(moment): return .hold
        case .close(moment): return .close
        case .reset(moment): return .reset
        default: return nil
        }
    }

    private var closesConnection: Bool {
        if reply.closesConnection || !request.wantsKeepAlive { return true }
        switch reply.fault {
        case .contentLength(let length): return length > reply.body.count && !ReplyHead.isBodiless(reply, to: request)
        case .missingLastChunk, .badChunkSize: return true
        default: return !ReplyHead.isBodiless(reply, to: request) && ReplyHead.framing(of: reply) == .untilClose
        }
    }

    /// Joins the head and a small body that follows at once, so that they are sent in one packet instead of two.
    private mutating func joinHeadAndBody() {
        let heads = steps.indices.dropLast().first { index in
            guard case .send(let head, let none) = steps[index], none.isEmpty,
                case .send(let body, _) = steps[index + 1]
            else { return false }
            return head.count + body.count <= 64 << 10
        }
        guard let index = heads, case .send(let head, _) = steps[index],
            case .send(let body, let content) = steps[index + 1]
        else { return }
        let range = content.lowerBound + head.count..<content.upperBound + head.count
        steps.replaceSubrange(index...index + 1, with: [.send(head + body, content: range)])
    }
}
