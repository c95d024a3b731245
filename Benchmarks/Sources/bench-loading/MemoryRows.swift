import Counting
import Foundation
import Measuring
import Synchronizer

/// What one would do by hand: a lock and a dictionary, keyed by what a cell has, a URL.
final class ByHand: @unchecked Sendable {  // `values` is touched under `lock` only
    private let lock = NSLock()
    private var values: [URL: Data] = [:]

    func insert(_ value: Data, for url: URL) { lock.withLock { values[url] = value } }
    func value(for url: URL) -> Data? { lock.withLock { values[url] } }
}

/// An actor with a method that does nothing that counts. (Of one that does nothing at all the compiler leaves nothing:
/// not even the way there.)
actor Empty {
    private(set) var calls = 0

    func nothing() { calls += 1 }
}

/// Loads that are answered from memory.
@MainActor struct MemoryRows {
    nonisolated static let count = 20_000
    let synchronizer: Synchronizer
    let resources: [DataResource]
    let urls: [URL]
    let byHand = ByHand()

    init(_ server: ServerProcess) async throws {
        synchronizer = Synchronizer(configuration: .init(urlCache: nil))
        urls = try (0..<100).map(server.url)
        resources = urls.map { DataResource(url: $0) }
        for (url, resource) in zip(urls, resources) { byHand.insert(try await synchronizer.load(resource), for: url) }
    }

    func rows() async throws -> [Row] {
        let lookUp = { [byHand, urls] in
            var bytes = 0
            let time = nanoseconds {
                for number in 0..<Self.count { bytes += byHand.value(for: urls[number % 100])?.count ?? 0 }
            }
            guard bytes == Self.count * ServerProcess.bodySize else { throw BenchmarkError("a miss by hand") }
            return time / Double(Self.count)
        }
        return [
            Row(
                "loadResource answered from memory, main actor",
                try Comparison(rounds: 9, loadResource, against: lookUp),
                unit: .microseconds, against: "a lock and a dictionary", .atMost(3)),
            Row(
                "cachedObject(for:)", try Comparison(rounds: 9, cachedObject, against: lookUp), unit: .microseconds,
                against: "a lock and a dictionary", .atMost(2)),
        ] + (try await awaited())
    }

    private func loadResource() throws -> Double {
        var bytes = 0
        let time = nanoseconds {
            for number in 0..<Self.count {
                synchronizer.loadResource(resources[number % 100]) { result in
                    if case .success(let data) = result { bytes += data.count }
                }
            }
        }
        guard bytes == Self.count * ServerProcess.bodySize else { throw BenchmarkError("a miss") }
        return time / Double(Self.count)
    }

    private func cachedObject() throws -> Double {
        var bytes = 0
        let time = nanoseconds {
            for number in 0..<Self.count {
                bytes += synchronizer.cachedObject(for: resources[number % 100])?.count ?? 0
            }
        }
        guard bytes == Self.count * ServerProcess.bodySize else { throw BenchmarkError("a miss") }
        return time / Double(Self.count)
    }

    /// Awaited where users await: on the main actor, from which an actor's method is another executor away; `load` stays
    /// where it is called. And from a task of no actor, where the runtime enters an actor that is free without leaving
    /// the thread.
    private func awaited() async throws -> [Row] {
        var (onMain, hops, offMain, calls): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for _ in 0..<10 {
            onMain.append(try await loads())
            hops.append(await self.calls(Empty()))
            offMain.append(try await Self.loadsOffMain(synchronizer, resources))
            calls.append(await Self.callsOffMain(Empty()))
        }
        return [
            Row(
                "await load answered from memory, main actor", Comparison(onMain, hops), unit: .microseconds,
                against: "await of an empty actor method", .atMost(3)),
            Row(
                "the same, from a task of no actor", Comparison(offMain, calls), unit: .microseconds,
                against: "await of an empty actor method, without a thread switch", .atMost(3)),
        ]
    }

    private func loads() async throws -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        for number in 0..<Self.count { _ = try await synchronizer.load(resources[number % 100]) }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(Self.count)
    }

    private func calls(_ actor: Empty) async -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        for _ in 0..<Self.count { await actor.nothing() }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(Self.count)
    }

    nonisolated private static func loadsOffMain(_ synchronizer: Synchronizer, _ resources: [DataResource]) async throws
        -> Double
    {
        let start = DispatchTime.now().uptimeNanoseconds
        for number in 0..<count { _ = try await synchronizer.load(resources[number % 100]) }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(count)
    }

    nonisolated private static func callsOffMain(_ actor: Empty) async -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        for _ in 0..<count { await actor.nothing() }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(count)
    }

    /// Allocations of one hit.
    func allocations() -> Double {
        let before = counting_allocations()
        for number in 0..<1_000 { synchronizer.loadResource(resources[number % 100]) { _ in } }
        return Double(counting_allocations() - before) / 1_000
    }
}
