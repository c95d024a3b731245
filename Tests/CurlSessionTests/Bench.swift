import Foundation
import FoundationNetworking
import ScriptedServer
import TestSupport

@testable import CurlSession

/// A server, a session and its delegate.
final class Bench: Sendable {
    let server: ScriptedServer
    let recorder: Recorder
    let session: CurlSession
    let queue: DispatchQueue
    /// The engine of its own, if it has one.
    private let timed: TimedEngine?

    init(
        _ recorder: Recorder = Recorder(), options: CurlSession.Options = .init(), timed: TimedEngine? = nil,
        queue: DispatchQueue = DispatchQueue(label: "delegate"), environment: [String: String] = [:],
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws {
        server = try ScriptedServer()
        self.recorder = recorder
        self.timed = timed
        self.queue = queue
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        let operations = OperationQueue()
        operations.underlyingQueue = queue
        session = CurlSession(
            configuration: configuration, delegate: recorder, queue: operations, options: options,
            engine: timed?.engine ?? .shared, environment: environment)
    }

    deinit {
        session.invalidateAndCancel()
        server.stop()
    }

    /// A bench whose session trusts the relays of TLS.
    static func overTLS(
        _ recorder: Recorder = Recorder(), timed: TimedEngine? = nil,
        queue: DispatchQueue = DispatchQueue(label: "delegate"), environment: [String: String] = [:],
        bufferSize: Int? = nil, refusesUncertainEnds: Bool = false,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        var options = CurlSession.Options()
        (options.bufferSize, options.refusesUncertainEnds) = (bufferSize, refusesUncertainEnds)
        options.tls.additionalAuthorities = TestCertificate.authority.text
        return try Bench(
            recorder, options: options, timed: timed, queue: queue, environment: environment, configure: configure)
    }

    /// Makes a task, which is not resumed.
    func task(_ target: String = "/", _ change: (inout URLRequest) -> Void = { _ in }) -> CurlTask {
        var request = URLRequest(url: server.url(target))
        change(&request)
        guard let task = session.dataTask(with: request) as? CurlTask else {
            preconditionFailure("not one of CurlSession's")
        }
        return task
    }

    /// Starts a task.
    @discardableResult
    func start(_ target: String = "/", _ change: (inout URLRequest) -> Void = { _ in }) -> CurlTask {
        let task = task(target, change)
        task.resume()
        return task
    }

    /// Returns when the engine has done what it was told before.
    func settle() async { await session.pool.engine.settle() }

    /// Reads something on the engine's thread.
    func onEngine<Value: Sendable>(_ read: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            session.pool.perform { continuation.resume(returning: read()) }
        }
    }

    /// Runs a task to its end.
    @discardableResult
    func run(_ target: String = "/", _ change: (inout URLRequest) -> Void = { _ in }) async -> CurlTask {
        let ends = recorder.notes.withLock { $0.ends }
        let task = start(target, change)
        await recorder.waitForEnds(ends + 1)
        return task
    }
}
