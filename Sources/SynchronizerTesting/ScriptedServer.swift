import Foundation
import Synchronizer

/// A small HTTP/1.1 server in this process, on 127.0.0.1, whose replies a test or a demonstration defines.
///
/// ```swift
/// let server = try ScriptedServer()
/// defer { server.stop() }
/// server["/feed"] = Reply("[]", fields: ["ETag": "\"1\"", "Cache-Control": "max-age=60"]).conditional()
/// server.enqueue(Reply("busy", status: 503), Reply("at last"), for: "/image")
/// … load server.url("/feed") …
/// #expect(server.requests.map(\.target) == ["/feed"])
/// ```
///
/// You can use it from any thread. The server chooses a reply when its request is complete. One thread serves all
/// connections, so handlers must not block. To delay a reply, use a ``Gate``.
public final class ScriptedServer: Sendable {
    /// The port that it listens on.
    public let port: UInt16
    private let base: URL
    private let script: Locked<Script>
    private let journal = Observed(Journal())
    private let engine: ServerEngine

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - port: 0 lets the system choose. Another number restarts a server at the port of an earlier one.
    ///   - handler: answers requests without a queued reply or a route; by default with a 404.
    /// - Throws: an error that names the system call that failed, such as `bind` if the port is taken.
    public init(
        port: UInt16 = 0, handler: @escaping @Sendable (RecordedRequest) -> Reply = { Reply("no \($0)", status: 404) }
    ) throws {
        let listener = try Socket.listening(port: port)
        let script = Locked(Script(fallback: handler))
        self.script = script
        self.port = try listener.port()
        guard let base = URL(string: "http://127.0.0.1:\(self.port)") else { throw SocketError("URL") }
        self.base = base
        engine = try ServerEngine(listener: listener, journal: journal) { request in
            script.withLock { $0.handler(for: request) }(request)
        }
        engine.answersEarly = { target in script.withLock { $0.early.contains(target) } }
        engine.loop.start(named: "ScriptedServer \(self.port)")
    }

    deinit {
        stop()
    }

    /// Resets all connections, frees the port, and returns when its thread has ended. Calling it again does nothing.
    public func stop() {
        engine.loop.post { [engine] in engine.shutDown() }
        engine.loop.join()
        journal.end()
    }

    /// The URL of a target, such as `/feed?page=2`.
    ///
    /// - Precondition: The target is a path with an optional query, written as in a URL. It comes from a test, not from a server
    ///   or a user.
    public func url(_ target: String = "/") -> URL {
        guard let url = URL(string: target, relativeTo: base)?.absoluteURL else {
            preconditionFailure("\(target) is no target of a request")  // a mistake in the test itself
        }
        return url
    }

    // MARK: Replies

    /// The reply for a target such as `/feed?page=2`, or for a path with any query; nil if none is set.
    public subscript(target: String) -> Reply? {
        get { script.withLock { $0.replies[target] } }
        set { script.withLock { $0.replies[target] = newValue } }
    }

    /// Lets a closure choose the reply at a target, or at a path with any query.
    public func handle(_ target: String, _ handler: @escaping @Sendable (RecordedRequest) -> Reply) {
        script.withLock { $0.handlers[target] = handler }
    }

    /// Queues replies. Each is sent once, in order, before any other reply at that target or path.
    public func enqueue(_ replies: Reply..., for target: String) {
        script.withLock { $0.queues[target, default: []] += replies }
    }

    /// Answers requests for a target as soon as their heads have arrived. Their bodies are read and ignored, so such a
    /// reply should end its connection.
    public func answerEarly(at target: String) {
        script.withLock { _ = $0.early.insert(target) }
    }

    // MARK: Speed

    /// Limits what the server sends over all connections together, in bytes a second; nil lifts the limit.
    public func limitBandwidth(to bytesPerSecond: Int?) {
        engine.loop.post { [engine] in engine.set(bytesPerSecond: bytesPerSecond) }
    }

    /// Delays each reply by this many seconds. For demonstrations and benchmarks; tests use gates.
    public func setLatency(_ seconds: TimeInterval) {
        engine.loop.post { [engine] in engine.set(latency: seconds) }
    }

    // MARK: Requests and counts

    /// The requests so far, in the order in which they were complete. If there are very many, only the latest are kept.
    public var requests: [RecordedRequest] { journal.read { $0.requests } }

    /// The counts so far.
    public var counts: ServerCounts { journal.read { $0.counts } }

    /// Limits the number of recorded requests. The oldest are dropped, but still counted.
    public func keepRequests(atMost capacity: Int) {
        journal.update { $0.capacity = capacity }
    }

    /// Returns the first `count` requests once they have been received.
    @discardableResult
    public func waitForRequests(_ count: Int) async throws -> [RecordedRequest] {
        try await journal.wait(for: "\(count) requests") { $0.counts.requests >= count }.first(count)
    }

    /// Returns the request with that number, from 0, once it has been received.
    @discardableResult
    public func waitForRequest(_ number: Int = 0) async throws -> RecordedRequest {
        let seen = try await journal.wait(for: "request number \(number)") { $0.counts.requests > number }
        guard let request = seen.requests.first(where: { $0.number == number }) else {
            throw WaitError.discarded(number: number)
        }
        return request
    }

    /// Returns when no connection is open any more.
    public func waitUntilConnectionsClosed() async throws {
        try await wait(for: "all connections to close") { $0.connectionsOpen == 0 }
    }

    /// Returns the counts as soon as they meet a condition. The condition must have no side effects.
    @discardableResult
    public func wait(
        for what: String = "a condition", until condition: @escaping @Sendable (ServerCounts) -> Bool
    ) async throws -> ServerCounts {
        try await journal.wait(for: what) { condition($0.counts) }.counts
    }
}
