import Counting
import Foundation
import Measuring
import ScriptedServer
import Synchronizer

/// Very many at once.
struct CrowdRows {
    /// Microseconds for each of 10,000 subscribers of one load: to join, and to be answered.
    func subscribers() async throws -> Double {
        var rounds: [Double] = []
        for _ in 0..<8 {
            let gate = Gate()
            let server = try ScriptedServer { _ in Reply("answer").waiting(for: gate) }
            let synchronizer = Synchronizer(configuration: .init(urlCache: nil))
            let resource = DataResource(url: server.url("/"))
            let queue = DispatchQueue(label: "answers")
            let done = DispatchSemaphore(value: 0)
            var time = nanoseconds {
                for number in 0..<10_000 {
                    synchronizer.loadResource(resource, on: queue) { _ in if number == 0 { done.signal() } }
                }
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
            time += Double(DispatchTime.now().uptimeNanoseconds - start)
            rounds.append(time / 10_000 / 1_000)
        }
        return median(rounds)
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
