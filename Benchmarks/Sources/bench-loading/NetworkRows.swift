import Foundation
import Measuring
import Synchronizer

/// Loads from a server in another process, and from the disk.
struct NetworkRows {
    let server: ServerProcess
    static let count = 1_200

    struct Cost {
        var wall: Double
        var cpu: Double
    }

    /// Nanoseconds for one of `count` operations, six at a time.
    private func sixAtOnce(_ load: @escaping @Sendable (Int) async throws -> Int) async throws -> Cost {
        let (start, cpu) = (DispatchTime.now().uptimeNanoseconds, processorTime())
        let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<6 {
                group.addTask {
                    var bytes = 0
                    for number in stride(from: lane, to: Self.count, by: 6) { bytes += try await load(number) }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
        guard bytes == Self.count * ServerProcess.bodySize else { throw BenchmarkError("\(bytes) bytes") }
        let wall = Double(DispatchTime.now().uptimeNanoseconds - start) / Double(Self.count)
        return Cost(wall: wall, cpu: Double(processorTime() - cpu) / Double(Self.count))
    }

    func cold() async throws -> [Row] {
        let urls = try (0..<Self.count).map(server.url)
        let session = URLSessionConfiguration.ephemeral
        session.urlCache = nil
        session.httpMaximumConnectionsPerHost = 6
        let bare = BareSession(session)
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.sessionConfiguration = session
        let synchronizer = Synchronizer(configuration: configuration)
        var (ours, theirs): ([Cost], [Cost]) = ([], [])
        for _ in 0..<16 {
            synchronizer.removeAllObjects()
            ours.append(try await sixAtOnce { try await synchronizer.load(DataResource(url: urls[$0])).count })
            theirs.append(try await sixAtOnce { try await bare.data(from: urls[$0]).count })
        }
        return [
            Row(
                "cold loads, 20 KB, 6 at once", Comparison(ours.map(\.wall), theirs.map(\.wall)), unit: .microseconds,
                against: "a bare URLSession with a delegate", .faster(0.93)),
            Row(
                "the same, processor time", Comparison(ours.map(\.cpu), theirs.map(\.cpu)), unit: .microseconds,
                against: "a bare URLSession with a delegate", .atMost(1.1)),
        ]
    }

    /// Nanoseconds of a load, of a lookup in the cache alone, and of a peer's pass, by round; all in turns.
    func disk(_ peer: Peer?) async throws -> (ours: [Double], cache: [Double], peer: [Double]) {
        let scratch = try Scratch()
        let cache = SQLiteURLCache(
            memoryCapacity: 0, diskCapacity: 1 << 30, directory: URL(fileURLWithPath: try scratch.path("cache")))
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.caching = .managed
        configuration.memoryCapacity = 0
        configuration.preferredMemoryUsage = 0
        let synchronizer = Synchronizer(configuration: configuration)
        let resources = try (0..<Self.count).map { DataResource(url: try server.url($0)) }
        for resource in resources { _ = try await synchronizer.load(resource) }
        cache.flush()
        let requests = resources.map { $0.request() }
        var rounds = (ours: [Double](), cache: [Double](), peer: [Double]())
        for _ in 0..<20 {
            rounds.ours.append(try await Self.whole(synchronizer, resources))
            rounds.cache.append(try Self.lookUps(cache, requests))
            if let peer { rounds.peer.append(try peer.pass()) }
        }
        return rounds
    }

    private static func whole(_ synchronizer: Synchronizer, _ resources: [DataResource]) async throws -> Double {
        var bytes = 0
        let start = DispatchTime.now().uptimeNanoseconds
        for index in resources.indices {
            bytes += try await synchronizer.load(resources[index &* 7919 % resources.count]).count
        }
        let time = Double(DispatchTime.now().uptimeNanoseconds - start)
        guard bytes == resources.count * ServerProcess.bodySize else { throw BenchmarkError("\(bytes) bytes") }
        return time / Double(resources.count)
    }

    private static func lookUps(_ cache: URLCache, _ requests: [URLRequest]) throws -> Double {
        var bytes = 0
        let time = nanoseconds {
            for index in requests.indices {
                bytes += cache.cachedResponse(for: requests[index &* 7919 % requests.count])?.data.count ?? 0
            }
        }
        guard bytes == requests.count * ServerProcess.bodySize else { throw BenchmarkError("\(bytes) bytes") }
        return time / Double(requests.count)
    }
}
