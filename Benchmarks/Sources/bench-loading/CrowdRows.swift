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
        for _ in 0..<10 {
            ours.append(try await round())
            theirs.append(Self.roundByHand())
        }
        return Comparison(ours, theirs)
    }

    /// What one would do by hand: all join a list under a lock, and each is answered on the queue.
    private static func roundByHand() -> Double {
        let (lock, queue, done) = (NSLock(), DispatchQueue(label: "answers"), DispatchSemaphore(value: 0))
        var waiting: [@Sendable (Data) -> Void] = []
        let answer = Data("answer".utf8)
        let time = nanoseconds {
            for number in 0..<count {
                lock.withLock { waiting.append { _ in if number == count - 1 { done.signal() } } }
            }
            let all = lock.withLock { waiting }
            for subscriber in all { queue.async { subscriber(answer) } }
            done.wait()
        }
        return time / Double(count)
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
