import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What one writes first: six loads at a time, the others in a queue in the order of asking; what is cancelled leaves the
/// queue, or its request is cancelled.
@MainActor final class PlainLoader {
    private let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 6
        return URLSession(configuration: configuration)
    }()
    private var waiting: [(id: Int, url: URL, completion: @MainActor () -> Void)] = []
    private var running: [Int: URLSessionDataTask] = [:]
    private var lastID = 0

    deinit { session.invalidateAndCancel() }

    /// Calls back when the load has succeeded; returns what cancels it.
    func load(_ url: URL, completion: @escaping @MainActor () -> Void) -> @Sendable () -> Void {
        lastID += 1
        let id = lastID
        waiting.append((id, url, completion))
        startWhatMay()
        return { MainActor.assumeIsolated { self.cancel(id) } }
    }

    private func cancel(_ id: Int) {
        waiting.removeAll { $0.id == id }
        running[id]?.cancel()
    }

    private func startWhatMay() {
        while running.count < 6, !waiting.isEmpty {
            let next = waiting.removeFirst()
            let task = session.dataTask(with: next.url) { [weak self] data, _, _ in
                let isThere = data != nil
                DispatchQueue.main.async {
                    MainActor.assumeIsolated {
                        self?.running[next.id] = nil
                        if isThere { next.completion() }
                        self?.startWhatMay()
                    }
                }
            }
            running[next.id] = task
            task.resume()
        }
    }
}
