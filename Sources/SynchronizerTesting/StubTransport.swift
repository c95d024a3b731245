import Foundation
import HTTPCaching
import Synchronizer

/// Sends requests to a ``StubServer``.
final class StubTransport: Transport {
    private let server: StubServer
    private let headers: [String: String]
    private let delegate: SessionDelegate
    private let time: any TimeSource
    private let transfers = Locked<[ObjectIdentifier: StubTransfer]>([:])

    init(_ server: StubServer, headers: [AnyHashable: Any], configuration: Synchronizer.Configuration) {
        self.server = server
        self.headers = Dictionary(headers.map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { $1 })
        delegate = configuration.sessionDelegate
        time = configuration.time
    }

    func sessionHeaders(for request: URLRequest) -> [String: String] { headers }

    func send(_ request: URLRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer {
        let recorded = server.record { RecordedRequest(request, number: $0, headers: headers) }
        let transfer = StubTransfer(request, delegate: delegate, receive: receive)
        transfers.withLock { $0[ObjectIdentifier(transfer)] = transfer }
        transfer.begin { [self] in
            defer { transfers.withLock { $0[ObjectIdentifier(transfer)] = nil } }
            if !recorded.body.isEmpty {
                await transfer.report(.sent(recorded.body.count, of: recorded.body.count))
            }
            let reply = try await server.reply(to: recorded)
            try await StubReply(reply, to: recorded, time: time).perform { await transfer.report($0) }
        }
        return transfer
    }

    /// Ends all transfers because the network was switched off.
    func interrupt() {
        transfers.withLock { Array($0.values) }.forEach { $0.interrupt() }
    }
}

/// A request to a ``StubServer`` in flight.
final class StubTransfer: Transfer {
    private struct State {
        /// Nil once the transfer has finished or was cancelled.
        var receive: (@Sendable (TransferEvent) -> Void)?
        var task: Task<Void, Never>?
        /// Whether the task is to be cancelled, also if it is not known yet.
        var isCancelled = false
    }

    private let request: URLRequest
    private let delegate: SessionDelegate
    private let state: Locked<State>
    /// Runs `receive`, which may wait for the disk. A thread of the cooperative pool must not wait.
    private let queue = DispatchQueue(label: "SynchronizerTesting.stub")

    init(_ request: URLRequest, delegate: SessionDelegate, receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.request = request
        self.delegate = delegate
        state = Locked(State(receive: receive))
    }

    func begin(_ answer: @escaping @Sendable () async throws -> Void) {
        let task = Task.detached {
            do {
                try await answer()
                await self.report(.finished(nil))
            } catch {
                await self.report(.finished(error is CancellationError ? URLError(.cancelled) : error))
            }
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Reports an event, and returns when it has been received.
    func report(_ event: TransferEvent) async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.deliver(event)
                continuation.resume()
            }
        }
    }

    private func deliver(_ event: TransferEvent) {
        let receive = state.withLock { state in
            defer { if case .finished = event { state.receive = nil } }
            return state.receive
        }
        receive?(event)
    }

    /// Ends the transfer because the network was switched off.
    func interrupt() {
        queue.async { self.deliver(.finished(NetworkSwitchedOff())) }
        cancelTask()
    }

    func cancel() {
        state.withLock { $0.receive = nil }
        cancelTask()
    }

    private func cancelTask() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Asks the delegate, with a task that is never started, because the transfer has no session.
    func willCache(
        _ head: ResponseHead, body: Data, cacheTime: TimeInterval?,
        decided: @escaping @Sendable (StorageDecision) -> Void
    ) {
        let session = URLSession.shared
        delegate.decideStorage(
            of: head, body: body, cacheTime: cacheTime, session: session, task: session.dataTask(with: request),
            decided: decided)
    }
}

extension RecordedRequest {
    /// The request as it would be sent over HTTP/1.1.
    fileprivate init(_ request: URLRequest, number: Int, headers: [String: String]) {
        let url = request.url
        let parts = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        let path = parts?.percentEncodedPath ?? ""
        let query = parts?.percentEncodedQuery.map { "?\($0)" } ?? ""
        let host = parts?.percentEncodedHost.map { host in parts?.port.map { "\(host):\($0)" } ?? host }
        var fields = host.map { [FieldLine(name: FieldName.host, value: $0)] } ?? []
        let sent = headers.merging(request.allHTTPHeaderFields ?? [:]) { $1 }
        fields += sent.sorted { $0.key < $1.key }.map { FieldLine(name: $0.key, value: $0.value) }
        self.init(
            number: number, connection: 0, method: request.httpMethod ?? "GET",
            target: (path.isEmpty ? "/" : path) + query,
            version: "HTTP/1.1", fields: fields,
            body: request.httpBody ?? request.httpBodyStream.map(Self.content) ?? Data(),
            stubbedURL: url)
    }

    private static func content(of stream: InputStream) -> Data {
        stream.open()
        defer { stream.close() }
        var content = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 { content += buffer[..<count] }
        return content
    }
}
