public import Foundation
public import Synchronizer

/// Answers the requests of synchronizers without sockets and without a `URLSession`, and records them.
///
/// ```swift
/// let server = StubServer { request in
///     request.path == "/feed" ? Reply("[]", fields: ["Cache-Control": "max-age=60"]) : Reply(status: 404)
/// }
/// let synchronizer = server.synchronizer()
/// … load https://example.com/feed …
/// #expect(server.requests.map(\.path) == ["/feed"])
/// ```
///
/// Requests by http and https to every host arrive here, and those for `file:` and `data:` URLs. Everything above the session
/// works as usual: cache, coalescing, retries, redirects. There are no session cookies, no TLS and no timeouts.
///
/// For each request, the handler runs in a task of its own. The task is cancelled if the load is cancelled. To delay an answer,
/// wait for a ``Gate``. To fail without a response, throw an error: the load fails with `SynchronizerError.transport` and that
/// error. A ``Reply`` means the same as with a ``ScriptedServer``, as far as that is possible without a connection:
///
/// - Gates, delays, conditions and ranges work. Delays are in seconds of the configuration's clock.
/// - ``Reply/Fault/close(_:)`` and ``Reply/Fault/reset(_:)`` fail with `URLError.networkConnectionLost`.
///   ``Reply/Fault/silence(_:)`` lasts until the load is cancelled.
/// - Other faults, and scripts, need a connection: the load fails with ``NeedsConnection``.
/// - The body is the decoded one, whatever `Content-Encoding` says.
///
/// You can use it from any thread.
public final class StubServer: Sendable {
    /// Answers a request, or throws the error with which its load fails.
    public typealias Handler = @Sendable (RecordedRequest) async throws -> Reply

    /// A reply needs a connection: use a ``ScriptedServer``.
    public struct NeedsConnection: Error, CustomStringConvertible {
        /// What went wrong, and what to do instead.
        public var description: String { "the reply scripts bytes on a connection: use a ScriptedServer" }
    }

    private let handler: Handler
    private let journal = Observed(Journal())

    /// Creates a server whose replies the handler chooses.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Creates a synchronizer whose requests arrive here, in managed mode.
    ///
    /// - Parameter configuration: requests get the additional headers of its session, but do not go through that session.
    public func synchronizer(_ configuration: Synchronizer.Configuration = .test()) -> Synchronizer {
        Synchronizer(configuration: configuration) { session in
            StubTransport(self, headers: session.httpAdditionalHeaders ?? [:], configuration: configuration)
        }
    }

    /// The requests so far, in the order in which they were sent.
    public var requests: [RecordedRequest] { journal.read { $0.requests } }

    /// Returns the first `count` requests once they have been received.
    ///
    /// - Throws: `CancellationError`, if the task is cancelled before.
    @discardableResult
    public func waitForRequests(_ count: Int) async throws -> [RecordedRequest] {
        try await journal.wait(for: "\(count) requests") { $0.counts.requests >= count }.first(count)
    }

    /// Numbers and records a request.
    func record(_ make: (_ number: Int) -> RecordedRequest) -> RecordedRequest {
        journal.update { journal in
            let request = make(journal.counts.requests)
            journal.record(request)
            return request
        }
    }

    func reply(to request: RecordedRequest) async throws -> Reply { try await handler(request) }
}

extension Synchronizer {
    /// Creates a synchronizer without sockets, whose responses the handler chooses. To see the requests, keep a
    /// ``StubServer`` instead.
    ///
    /// ```swift
    /// let synchronizer = Synchronizer.stub { _ in Reply(#"{"title": "Test", "items": []}"#) }
    /// let broken = Synchronizer.stub { _ in throw URLError(.notConnectedToInternet) }
    /// ```
    public static func stub(
        configuration: Configuration = .test(), _ handler: @escaping StubServer.Handler
    ) -> Synchronizer {
        StubServer(handler).synchronizer(configuration)
    }
}

extension Synchronizer.Configuration {
    /// A configuration for a test: the same mode on every platform, a cache in memory for this configuration alone, no
    /// retries, and an ephemeral session.
    ///
    /// - Parameters:
    ///   - cacheTime: the lifetime in seconds of responses without one; nil injects none.
    ///   - time: the clock, such as a ``ManualClock``.
    public static func test(cacheTime: TimeInterval? = nil, time: any TimeSource = SystemTime()) -> Self {
        // Without capacity on the disk, the directory is never created.
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        var configuration = Self(
            cacheTime: cacheTime,
            urlCache: SQLiteURLCache(memoryCapacity: 64 << 20, diskCapacity: 0, directory: directory, time: time))
        configuration.caching = .managed
        configuration.sessionConfiguration = .ephemeral
        configuration.retry = .none
        configuration.time = time
        return configuration
    }
}
