import CurlSession
import Foundation
import FoundationNetworking
import HostileServer
import ScriptedServer

/// A session, and a delegate that collects what comes, up to a limit.
final class HostileClient: Sendable {
    private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
        let loads = Observed<[Int: HostileLoad]>([:])
        let unexpected = Observed(0)

        private func load(_ task: URLSessionTask) -> HostileLoad? { loads.read { $0[task.taskIdentifier] } }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            load(dataTask)?.received(data)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let load = loads.update({ $0.removeValue(forKey: task.taskIdentifier) }) else {
                return unexpected.update { $0 += 1 }
            }
            load.ended(task.response as? HTTPURLResponse, error)
        }
    }

    let session: CurlSession
    private let delegate = Delegate()
    private let limit: Int?

    /// - Parameter limit: bytes after which a load is cancelled; nil: it may go on for ever.
    init(_ configuration: URLSessionConfiguration, limit: Int? = HostileCase.maximumResponseSize) {
        self.limit = limit
        session = CurlSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// Calls of the delegate about tasks that had ended.
    var unexpectedCalls: Int { delegate.unexpected.read { $0 } }

    func start(_ request: URLRequest) -> HostileLoad {
        let load = HostileLoad(session.dataTask(with: request), limit: limit)
        delegate.loads.update { $0[load.task.taskIdentifier] = load }
        load.task.resume()
        return load
    }

    func load(_ request: URLRequest) async throws -> HostileCase.Outcome {
        try await start(request).outcome()
    }
}

/// A load, and what has come of it so far.
final class HostileLoad: Sendable {
    private struct State: Sendable {
        var body = Data()
        var count = 0
        var outcome: HostileCase.Outcome?
    }

    let task: URLSessionDataTask
    private let limit: Int?
    private let state = Observed(State())

    init(_ task: URLSessionDataTask, limit: Int?) {
        (self.task, self.limit) = (task, limit)
    }

    func received(_ data: Data) {
        let isTooLarge = state.update { state in
            state.count += data.count
            if state.count <= HostileCase.maximumResponseSize { state.body += data }
            return limit.map { state.count > $0 } ?? false
        }
        if isTooLarge { task.cancel() }
    }

    func ended(_ response: HTTPURLResponse?, _ error: (any Error)?) {
        state.update { state in
            if let limit, state.count > limit {
                state.outcome = .tooLarge
            } else if let error {
                state.outcome = .error((error as? URLError)?.code ?? .unknown)
            } else {
                state.outcome = .response(status: response?.statusCode ?? 0, body: state.body)
            }
        }
    }

    /// Returns once some of the body has come.
    func waitForData() async throws {
        _ = try await state.wait(for: "data") { $0.count > 0 }
    }

    func outcome() async throws -> HostileCase.Outcome {
        try await state.wait(for: "the end of a load") { $0.outcome != nil }.outcome ?? .error(.unknown)
    }
}
