import Counting
import Foundation
import Measuring
import ScriptedServer
import Synchronizer

/// Very many at once.
struct CrowdRows {
    private static let count = 10_000

    /// For each of 10,000 subscribers of one load: to join, and to be answered.
    func subscribers() async throws -> Comparison {
        var (ours, theirs): ([Double], [Double]) = ([], [])
        guard let url = URL(string: "http://127.0.0.1:8080/") else { throw URLError(.badURL) }
        for _ in 0..<10 {
            ours.append(try await round())
            theirs.append(Self.roundByHand(url))
        }
        return Comparison(ours, theirs)
    }

    /// What one would do by hand: equal requests join one list under a lock, each caller gets a closure that leaves the list,
    /// and each is answered on the queue.
    private static func roundByHand(_ url: URL) -> Double {
        let (loads, queue, done) = (JoinedLoads(), DispatchQueue(label: "answers"), DispatchSemaphore(value: 0))
        let answer = Data("answer".utf8)
        var cancels: [@Sendable () -> Void] = []
        cancels.reserveCapacity(count)
        let time = nanoseconds {
            for number in 0..<count {
                cancels.append(loads.join(URLRequest(url: url)) { _ in if number == count - 1 { done.signal() } })
            }
            for subscriber in loads.end(URLRequest(url: url)) { queue.async { subscriber(answer) } }
            done.wait()
        }
        return time / Double(count)
    }

    /// The callers of each request.
    private final class JoinedLoads: @unchecked Sendable {  // `waiting` is accessed under the lock only
        private let lock = NSLock()
        private var waiting: [URLRequest: [Int: @Sendable (Data) -> Void]] = [:]
        private var last = 0

        func join(_ request: URLRequest, _ handler: @escaping @Sendable (Data) -> Void) -> @Sendable () -> Void {
            let number = lock.withLock {
                last += 1
                waiting[request, default: [:]][last] = handler
                return last
            }
            return { [self] in lock.withLock { _ = waiting[request]?.removeValue(forKey: number) } }
        }

        func end(_ request: URLRequest) -> [@Sendable (Data) -> Void] {
            let callers = lock.withLock { waiting.removeValue(forKey: request) ?? [:] }
            return callers.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private func round() async throws -> Double {
        let gate = Gate()
        let server = try ScriptedServer { _ in Reply("answer").waiting(for: gate) }
        let synchronizer = Synchronizer(configuration: .init(urlCache: nil))
        let resource = DataResource(url: server.url("/"))
        let queue = DispatchQueue(label: "answers")
        let joining = nanoseconds {
            for _ in 0..<Self.count { synchronizer.loadResource(resource, on: queue) { _ in } }
        }
        try await gate.waitForArrivals()
        let last = Task.detached {
            await withCheckedContinuation { continuation in
                synchronizer.loadResource(resource, on: queue) { _ in continuation.resume() }
            }
        }
        _ = await Task { await Task.yield() }.value
        let start = DispatchTime.now().uptimeNanoseconds
        gate.open()
        await last.value
        return (joining + Double(DispatchTime.now().uptimeNanoseconds - start)) / Double(Self.count)
    }

    /// Bytes in use, when they do not change any more: the loads have looked into the cache, and wait for the network.
    private func settled() -> Int64 {
        var last = counting_bytes_in_use()
        while true {
            Thread.sleep(forTimeInterval: 0.5)
            let now = counting_bytes_in_use()
            if abs(now - last) < 100_000 { return now }
            last = now
        }
    }

    /// Bytes for each of 100,000 loads that wait, all that belongs to them included: request, closure, handle.
    func bytesForEach() throws -> Double {
        let server = try ScriptedServer { _ in Reply("never").failing(.silence(.beforeHead)) }
        let synchronizer = Synchronizer(configuration: .init(urlCache: nil))
        let resources = (0..<100_000).map { DataResource(url: server.url("/\($0)")) }
        var cancels: [CancelLoading] = []
        cancels.reserveCapacity(resources.count)
        let before = counting_bytes_in_use()
        for resource in resources { cancels.append(synchronizer.loadResource(resource, on: .global()) { _ in }) }
        let bytes = settled() - before
        cancels.forEach { $0() }
        return Double(bytes) / Double(resources.count)
    }
}
