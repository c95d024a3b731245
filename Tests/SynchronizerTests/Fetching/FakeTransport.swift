import Foundation
import Synchronizer

/// What a server says to one request.
struct FakeReply: Sendable {
    var status = 200
    /// Heads that come before the final one, with these fields.
    var interim: [(status: Int, fields: [String: String])] = []
    var fields: [String: String] = [:]
    /// Whether the body has no end: it is for the client to give up.
    var isEndless = false
    var chunks: [Data] = []
    var error: (any Error)?

    init(_ status: Int = 200, _ fields: [String: String] = [:], _ body: String = "") {
        self.status = status
        self.fields = fields
        chunks = body.isEmpty ? [] : [Data(body.utf8)]
    }

    static func failure(_ code: URLError.Code) -> FakeReply {
        var reply = FakeReply()
        reply.status = 0
        reply.error = URLError(code)
        return reply
    }
}

/// A network whose server is a closure. It answers at once, inside `send`, unless it is told to hold.
final class FakeTransport: Transport {
    typealias Server = @Sendable (URLRequest) -> FakeReply
    typealias Delegate = @Sendable (CachedURLResponse) -> CachedURLResponse?

    private struct State {
        var server: Server = { _ in FakeReply(500) }
        var delegate: Delegate = { $0 }
        var requests: [URLRequest] = []
        var proposals: [CachedURLResponse] = []
        var held: [FakeTransfer] = []
        var cancelled = 0
        var holds = false
        var implied: [String: String] = [:]
    }

    private let state = Locked(State())

    var requests: [URLRequest] { state.withLock { $0.requests } }
    var proposals: [CachedURLResponse] { state.withLock { $0.proposals } }
    var cancelled: Int { state.withLock { $0.cancelled } }
    var held: [FakeTransfer] { state.withLock { $0.held } }

    func serve(_ server: @escaping Server) { state.withLock { $0.server = server } }
    func decide(_ delegate: @escaping Delegate) { state.withLock { $0.delegate = delegate } }
    func hold(_ holds: Bool = true) { state.withLock { $0.holds = holds } }
    func imply(_ fields: [String: String]) { state.withLock { $0.implied = fields } }

    func interrupt() {
        let transfers = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        var end = FakeReply.failure(.notConnectedToInternet)
        end.error = NetworkSwitchedOff()
        transfers.forEach { $0.deliver(end) }
    }

    /// Answers the oldest request that is held.
    func release(_ reply: FakeReply) {
        let transfer = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }
        transfer?.deliver(reply)
    }

    func send(_ request: URLRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer {
        let transfer = FakeTransfer(self, request, receive)
        let (server, holds) = state.withLock { state in
            state.requests.append(request)
            if state.holds { state.held.append(transfer) }
            return (state.server, state.holds)
        }
        if !holds { transfer.deliver(server(request)) }
        return transfer
    }

    func sessionHeaders(for request: URLRequest) -> [String: String] { state.withLock { $0.implied } }

    fileprivate func decision(on proposed: CachedURLResponse) -> CachedURLResponse? {
        let delegate = state.withLock { state in
            state.proposals.append(proposed)
            return state.delegate
        }
        return delegate(proposed)
    }

    fileprivate func countCancelled() { state.withLock { $0.cancelled += 1 } }
}

final class FakeTransfer: Transfer {
    private let transport: FakeTransport
    private let request: URLRequest
    private let receive: Locked<(@Sendable (TransferEvent) -> Void)?>

    init(_ transport: FakeTransport, _ request: URLRequest, _ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.transport = transport
        self.request = request
        self.receive = Locked(receive)
    }

    func deliver(_ reply: FakeReply) {
        for interim in reply.interim {
            report(.response(ResponseHead(response(FakeReply(interim.status, interim.fields)))))
        }
        if reply.status != 0 { report(.response(ResponseHead(response(reply)))) }
        for chunk in reply.chunks { report(.data(chunk)) }
        if reply.isEndless { return }
        report(.finished(reply.error))
        receive.withLock { $0 = nil }
    }

    /// Reports events even after the transfer has ended, as a thread does that was about to.
    var late: (@Sendable (TransferEvent) -> Void)? { receive.withLock { $0 } }

    func report(_ event: TransferEvent) { receive.withLock { $0 }?(event) }

    func cancel() {
        let wasOpen = receive.withLock { receive in
            defer { receive = nil }
            return receive != nil
        }
        if wasOpen { transport.countCancelled() }
    }

    func willCache(
        _ head: ResponseHead, body: Data, cacheTime: TimeInterval?,
        decided: @escaping @Sendable (StorageDecision) -> Void
    ) {
        let proposed = CachedURLResponse(response: head.urlResponse, data: body)
        decided(StorageDecision(transport.decision(on: proposed), insteadOf: proposed))
    }

    private func response(_ reply: FakeReply) -> URLResponse {
        let url = request.url ?? URL(fileURLWithPath: "/")
        let other = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        guard url.scheme?.hasPrefix("http") ?? false else { return other }
        return HTTPURLResponse(
            url: url, statusCode: reply.status, httpVersion: "HTTP/1.1", headerFields: reply.fields) ?? other
    }
}
