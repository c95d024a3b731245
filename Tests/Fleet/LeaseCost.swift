import Foundation
import SQLiteCache
import Synchronizer
import SynchronizerTesting

/// What a free lease adds to a load from a server on this machine.
enum LeaseCost {
    /// The share that it may add.
    private static let goal = 0.1

    /// Returns whether the goal is met.
    static func printTable() async throws -> Bool {
        let server = try ScriptedServer()
        let body = Data(repeating: 7, count: 20_000)
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("lease-cost-\(getpid())")
        let cache = SQLiteURLCache(memoryCapacity: 16 << 20, diskCapacity: 256 << 20, directory: place)
        defer {
            cache.close()
            try? FileManager.default.removeItem(at: place)
        }
        server.handle("/item") { _ in Reply(body, fields: ["Cache-Control": "max-age=600"]) }
        let synchronizers = [true, false].map { takesLeases in
            var configuration = Synchronizer.Configuration(urlCache: cache)
            configuration.memoryCapacity = 0
            if !takesLeases { configuration.leases = nil }
            return Synchronizer(configuration: configuration)
        }
        var times: [[Double]] = [[], []]
        for number in 0..<6000 {
            let which = number % 2
            let resource = DataResource(url: server.url("/item?\(number)"))
            let start = DispatchTime.now().uptimeNanoseconds
            _ = try await synchronizers[which].load(resource)
            if number >= 1000 { times[which].append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1000) }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        say(
            String(
                format: "a load of 20 KB, median of 2500: %.1f µs with a lease, %.1f µs without", medians[0], medians[1]
            ))
        let added = medians[0] / medians[1] - 1
        say(
            String(
                format: "a lease adds %.1f %%, goal at most %.0f %%: %@", added * 100, goal * 100,
                added <= goal ? "met" : "MISSED"))
        var calls: [Double] = []
        for number in 0..<2000 {
            let start = DispatchTime.now().uptimeNanoseconds
            if case .granted(let lease) = cache.lease("key \(number)", for: 5) { cache.release(lease) }
            calls.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1000)
        }
        say(String(format: "taking and releasing a lease: %.1f µs", calls.sorted()[1000]))
        return added <= goal
    }
}
