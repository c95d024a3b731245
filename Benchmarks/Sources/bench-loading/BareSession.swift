import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `URLSession` with a delegate and nothing else: what any loader that sees bytes arrive has to be.
final class BareSession: @unchecked Sendable {  // `loads` is touched under `lock` only
    typealias Load = (data: Data, continuation: CheckedContinuation<Data, any Error>)

    private let lock = NSLock()
    private var loads: [Int: Load] = [:]
    private let session: URLSession

    private final class Relay: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // set once, before any task
        weak var target: BareSession?

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            target?.received(data, of: dataTask.taskIdentifier)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            target?.ended(task.taskIdentifier, error)
        }
    }

    init(_ configuration: URLSessionConfiguration) {
        let relay = Relay()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: relay, delegateQueue: queue)
        relay.target = self
    }

    deinit { session.finishTasksAndInvalidate() }

    func data(from url: URL) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            let task = session.dataTask(with: url)
            lock.withLock { loads[task.taskIdentifier] = (Data(), continuation) }
            task.resume()
        }
    }

    private func received(_ data: Data, of task: Int) {
        lock.withLock { loads[task]?.data.append(data) }
    }

    private func ended(_ task: Int, _ error: (any Error)?) {
        guard let load = lock.withLock({ loads.removeValue(forKey: task) }) else { return }
        if let error {
            load.continuation.resume(throwing: error)
        } else {
            load.continuation.resume(returning: load.data)
        }
    }
}
