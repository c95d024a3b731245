import Foundation

/// The connection to one client: reads requests, and sends one reply after the other as planned. For the loop's thread only.
final class Connection {
    /// A ticket that resumes a waiting reply. It is void once the reply has continued or the connection has ended.
    struct Ticket: Sendable {
        let connection: Int
        let number: Int
    }

    private enum Progress {
        /// The step is done; the next one follows at once, or when a ticket is redeemed.
        case done
        /// The step continues when the socket takes bytes, or when the connection gets a slot to send in.
        case blocked
        /// The connection has ended.
        case closed
    }

    private enum Stage: Equatable {
        /// Steps are performed, or the next request is awaited.
        case running
        /// The reply goes on when the ticket with this number is redeemed.
        case waitingForTicket(Int)
        /// The reply goes on when the socket takes bytes.
        case waitingForRoom
        /// The server has sent all that it will. It discards the bytes that the client still sends.
        case draining
    }

    let id: Int
    let socket: Socket
    private unowned let server: ServerEngine
    private var parser = RequestParser()
    private var steps: ArraySlice<ReplyPlan.Step> = []
    private var sent = 0
    private var isReplying = false
    private var stage = Stage.running
    private var lastTicket = 0
    /// Takes the reply away from the gate at which it waits.
    private var leaveGate: (() -> Void)?

    /// The number of unparsed bytes above which the server stops reading.
    private static let largestBacklog = 1 << 20

    init(id: Int, socket: Socket, server: ServerEngine) {
        self.id = id
        self.socket = socket
        self.server = server
    }

    /// Handles an event of the poller: reads and writes as much as the socket allows.
    func handle(_ event: Poller.Event) {
        if event.writable, stage == .waitingForRoom { stage = .running }
        if event.readable || event.broken {
            guard readAll() else { return }
        }
        goOn()
    }

    func resume(_ ticket: Ticket) {
        guard stage == .waitingForTicket(ticket.number) else { return }
        leaveGate = nil
        stage = .running
        goOn()
    }

    // MARK: Reading

    private func readAll() -> Bool {
        while parser.backlog <= Self.largestBacklog {
            switch socket.read(into: server.scratch) {
            case .bytes(let count):
                guard stage != .draining else { continue }
                parser.append(UnsafeRawBufferPointer(rebasing: server.scratch[..<count]))
                if count < server.scratch.count { return true }
            case .wouldBlock: return true
            case .end: return end(by: stage == .draining ? .server : .peer)
            case .failed: return end(by: stage == .draining ? .server : .peerReset)
            }
        }
        return true
    }

    private func end(by ending: ServerEngine.Ending) -> Bool {
        server.close(self, by: ending, abandoned: isReplying && stage != .draining)
        return false
    }

    // MARK: Replying

    private func goOn() {
        while stage == .running {
            guard let step = steps.first else {
                finishReply()
                guard beginReply() else { break }
                continue
            }
            switch perform(step) {
            case .done: steps.removeFirst()
            case .blocked: break
            case .closed: return
            }
        }
        let reads = parser.backlog <= Self.largestBacklog
        server.loop.watch(socket.descriptor, reading: reads, writing: stage == .waitingForRoom)
    }

    private func finishReply() {
        guard isReplying else { return }
        isReplying = false
        server.journal.update { $0.counts.repliesCompleted += 1 }
    }

    private func beginReply() -> Bool {
        switch parser.next(answersEarly: server.answersEarly) {
        case .incomplete: return false
        case .expectsContinue: steps = [.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8), content: 0..<0)]
        case .request(let request):
            let recorded = server.record(request, on: id)
            begin(ReplyPlan(server.respond(recorded), to: recorded, serverLatency: server.latency))
        case .refused(let status):
            server.journal.update { $0.counts.refusals += 1 }
            let nothing = RecordedRequest(
                number: -1, connection: id, method: "", target: "", version: "", fields: [], body: Data())
            begin(ReplyPlan(Reply(status: status).closing(), to: nothing))
        }
        return true
    }

    private func begin(_ plan: ReplyPlan) {
        steps = plan.steps[...]
        isReplying = true
    }

    private func perform(_ step: ReplyPlan.Step) -> Progress {
        switch step {
        case .begin(let status):
            server.journal.update { $0.counts.replies[status, default: 0] += 1 }
            return .done
        case .send(let bytes, let content): return send(bytes, content: content)
        case .repeatForever(let bytes, let content):
            // A piece at a time: a client that reads as fast as the server writes must not keep the loop from other connections.
            let progress = send(bytes, content: content)
            guard case .done = progress else { return progress }
            stage = .waitingForRoom
            return .blocked
        case .again(let round, let times):
            repeatSteps(round, times: times)
            return .done
        case .wait(let gate): return wait(at: gate)
        case .delay(let seconds):
            let (server, ticket) = (server, nextTicket())
            server.loop.schedule(at: server.loop.now + seconds) { server.resume(ticket) }
            return .done
        case .hold:
            _ = nextTicket()
            return .done
        case .close:
            finishReply()
            stage = .draining
            socket.finishWriting()
            return .done
        case .reset:
            server.close(self, by: .server, resetting: true)
            return .closed
        }
    }

    /// Performs one round, and schedules the others. Other connections are served before each round.
    private func repeatSteps(_ round: [ReplyPlan.Step], times: Int?) {
        guard times != 0 else { return }
        steps.insert(contentsOf: round + [.again(round, times: times.map { $0 - 1 })], at: steps.startIndex + 1)
        stage = .waitingForRoom
    }

    private func wait(at gate: Gate) -> Progress {
        let (server, ticket) = (server, nextTicket())
        let waiter = gate.arrive { server.loop.post { server.resume(ticket) } }
        if let waiter { leaveGate = { gate.leave(waiter) } } else { stage = .running }
        return .done
    }

    /// The connection has been closed: its reply must not use up an admission of a gate.
    func wasClosed() {
        leaveGate?()
        leaveGate = nil
    }

    private func nextTicket() -> Ticket {
        lastTicket += 1
        stage = .waitingForTicket(lastTicket)
        return Ticket(connection: id, number: lastTicket)
    }

    private func send(_ bytes: Data, content: Range<Int>) -> Progress {
        while sent < bytes.count {
            let allowed = server.allowance(for: bytes.count - sent, connection: id)
            guard allowed > 0 else {
                server.queueForSlot(nextTicket())
                return .blocked
            }
            let piece = sent..<sent + allowed
            // The bytes are counted before they are sent, because a test may read the counts as soon as its client has the bytes.
            count(content, in: piece, sign: 1)
            let result = bytes.withUnsafeBytes { socket.write(UnsafeRawBufferPointer(rebasing: $0[piece])) }
            guard case .bytes(let written) = result else {
                count(content, in: piece, sign: -1)
                if case .failed = result { return end(by: .peerReset) ? .blocked : .closed }
                stage = .waitingForRoom
                return .blocked
            }
            count(content, in: piece.lowerBound + written..<piece.upperBound, sign: -1)
            server.spend(written)
            sent += written
        }
        sent = 0
        return .done
    }

    private func count(_ content: Range<Int>, in piece: Range<Int>, sign: Int) {
        let bytes = content.clamped(to: piece).count
        if bytes > 0 { server.journal.update { $0.counts.bodyBytesSent += sign * bytes } }
    }
}
