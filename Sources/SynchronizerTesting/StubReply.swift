import Foundation
import HTTPCaching
import Synchronizer

/// Delivers a ``Reply`` without a connection: performs the steps of its plan, and reports the head and the content.
struct StubReply {
    private let reply: Reply
    private let request: RecordedRequest
    private let time: any TimeSource
    /// The number of bytes of the head. The head is reported after that many bytes.
    private let headSize: Int

    init(_ scripted: Reply, to request: RecordedRequest, time: any TimeSource) {
        // Without a connection, nothing is chunked and no connection is closed. The length of such a body is not known, though.
        var reply = scripted
        reply.closesConnection = false
        switch reply.framing {
        case .chunked, .untilClose: reply.framing = .asFieldsSay
        case .contentLength, .asFieldsSay: break
        }
        self.reply = reply.applied(to: request)
        self.request = request.keepingAlive
        self.time = time
        headSize = ReplyHead(self.reply, to: request, closes: false).bytes.count
    }

    func perform(_ report: (TransferEvent) async -> Void) async throws {
        try checkIsPossible()
        var headLeft = headSize
        var contentLeft = ReplyHead.isBodiless(reply, to: request) ? 0 : reply.body.count
        for step in ReplyPlan(reply, to: request).steps {
            switch step {
            case .begin: continue
            case .delay(let seconds): try await sleep(seconds)
            case .wait(let gate): try await gate.wait()
            case .send(let bytes, let content):
                if headLeft > 0 {
                    headLeft -= bytes.count - content.count
                    if headLeft <= 0 { await report(.response(head)) }
                }
                contentLeft -= content.count
                if !content.isEmpty { await report(.data(bytes.dropFirst(content.lowerBound).prefix(content.count))) }
            case .repeatForever(let bytes, let content):
                while !Task.isCancelled {
                    await report(.data(bytes.dropFirst(content.lowerBound).prefix(content.count)))
                }
            case .hold: try await Gate().wait()
            case .close where headLeft <= 0 && contentLeft <= 0: return
            case .close, .reset: throw URLError(.networkConnectionLost)
            case .again: throw StubServer.NeedsConnection()
            }
            try Task.checkCancellation()
        }
    }

    private func checkIsPossible() throws {
        guard reply.script == nil else { throw StubServer.NeedsConnection() }
        switch reply.fault {
        case nil, .silence, .close, .reset, .endlessBody: return
        default: throw StubServer.NeedsConnection()
        }
    }

    private var head: ResponseHead {
        let lines = reply.fields + ReplyHead.framingFields(of: reply, to: request)
        return ResponseHead(
            url: request.url ?? URL(fileURLWithPath: "/"), status: reply.status,
            fields: HTTPFields(lines.without(FieldName.transferEncoding).map { ($0.name, $0.value) }))
    }

    private func sleep(_ seconds: TimeInterval) async throws {
        let isOver = Observed(false)
        let cancel = time.schedule(after: seconds) { isOver.update { $0 = true } }
        defer { cancel() }
        _ = try await isOver.wait(for: "a delay") { $0 }
    }
}

extension RecordedRequest {
    /// The same request without a `Connection` field.
    fileprivate var keepingAlive: RecordedRequest {
        RecordedRequest(
            number: number, connection: connection, method: method, target: target, version: version,
            fields: fields.without(FieldName.connection), body: body, stubbedURL: stubbedURL)
    }
}
