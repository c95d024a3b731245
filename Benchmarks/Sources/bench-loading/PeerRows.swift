import Foundation
import Measuring
import Synchronizer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Loads from nginx, in rounds that take turns with those of other clients.
struct PeerRows {
    static let (count, rounds, concurrent) = (1_200, 10, 6)
    static let bytes = count * NginxServer.bodySize

    let server: NginxServer

    private typealias Cost = NetworkRows.Cost
    private typealias Round = () async throws -> Cost

    /// What each client takes for a load, by round; all of them in each round, every time another one first.
    private func inTurns(_ clients: [Round]) async throws -> [[Cost]] {
        var costs = [[Cost]](repeating: [], count: clients.count)
        for round in 0..<Self.rounds {
            for offset in clients.indices {
                let index = (round + offset) % clients.count
                costs[index].append(try await clients[index]())
            }
        }
        return costs
    }

    /// A round of our own, in which `load` returns the size of a body.
    private func ours(
        count: Int = count, concurrent: Int = concurrent, _ load: @escaping @Sendable (Int) async throws -> Int
    ) async throws -> Cost {
        let (start, cpu) = (DispatchTime.now().uptimeNanoseconds, processorTime())
        let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<concurrent {
                group.addTask {
                    var bytes = 0
                    for number in stride(from: lane, to: count, by: concurrent) { bytes += try await load(number) }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
        guard bytes == count * NginxServer.bodySize else { throw BenchmarkError("\(bytes) bytes") }
        let wall = Double(DispatchTime.now().uptimeNanoseconds - start) / Double(count)
        return Cost(wall: wall, cpu: Double(processorTime() - cpu) / Double(count))
    }

    private static var session: URLSessionConfiguration {
        let session = URLSessionConfiguration.ephemeral
        session.urlCache = nil
        session.httpMaximumConnectionsPerHost = concurrent
        return session
    }

    private static func synchronizer(
        _ cache: URLCache?, _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) -> Synchronizer {
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.sessionConfiguration = session
        configuration.caching = .managed
        configuration.memoryCapacity = 0
        configuration.preferredMemoryUsage = 0
        change(&configuration)
        return Synchronizer(configuration: configuration)
    }

    private func resources(_ path: String) throws -> [DataResource] {
        try (0..<Self.count).map { number in
            guard let url = URL(string: "\(server.plain)/\(path)/\(number)") else { throw BenchmarkError("no URL") }
            return DataResource(url: url)
        }
    }

    // MARK: Rows

    func cold() async throws -> [Row] {
        let resources = try resources("fresh")
        let urls = resources.compactMap { $0.request().url }
        let synchronizer = Self.synchronizer(nil)
        let bare = BareSession(Self.session)
        let target = "\(server.plain)/fresh/"
        let (count, concurrent) = ("\(Self.count)", "\(Self.concurrent)")
        let multi = try PeerProcess.multi(target, count, concurrent)
        let others = [
            ("OkHttp", try PeerProcess.okHttp(target, count, concurrent)),
            ("aiohttp", try PeerProcess.aiohttp(target, count, concurrent)),
            ("Node's fetch", try PeerProcess.fetch(target, count, concurrent)),
        ]
        let costs = try await inTurns(
            [
                { try await ours { try await synchronizer.load(resources[$0]).count } },
                { try await ours { try await bare.data(from: urls[$0]).count } },
                { try multi.round(bytes: Self.bytes) },
            ] + others.map { peer in { try peer.1.round(bytes: Self.bytes) } })
        let name = "cold loads, 20 KB, 6 at once, nothing stored"
        func row(_ suffix: String, _ part: (Cost) -> Double, _ peer: Int, _ against: String, _ goal: Row.Goal) -> Row {
            Row(
                name + suffix, Comparison(costs[0].map(part), costs[peer].map(part)), unit: .microseconds,
                against: against, goal)
        }
        let foundation = "Foundation's URLSession, bare"
        return [
            row("", \.wall, 1, foundation, .faster(5)), row(", processor time", \.cpu, 1, foundation, .atMost(0.2)),
            row(", processor time", \.cpu, 2, "libcurl's multi interface, in C", .atMost(1.8)),
        ] + others.indices.map { row("", \.wall, 3 + $0, others[$0].0, .faster(1)) }
    }

    func stored() async throws -> Row {
        let resources = try resources("fresh")
        let scratch = try Scratch()
        let cache = SQLiteURLCache(
            memoryCapacity: 0, diskCapacity: 1 << 30, directory: URL(fileURLWithPath: try scratch.path("cache")))
        let (plain, storing) = (Self.synchronizer(nil), Self.synchronizer(cache))
        let costs = try await inTurns([
            {
                storing.removeAll()
                cache.flush()
                let cost = try await ours { try await storing.load(resources[$0]).count }
                cache.flush()
                return cost
            },
            { try await ours { try await plain.load(resources[$0]).count } },
        ])
        return Row(
            "cold loads, stored in SQLiteURLCache", Comparison(costs[0].map(\.wall), costs[1].map(\.wall)),
            unit: .microseconds, against: "the same, not stored", .atMost(1.5))
    }

    func revalidated() async throws -> Row {
        let resources = try resources("check")
        let scratch = try Scratch()
        let cache = SQLiteURLCache(
            memoryCapacity: 0, diskCapacity: 1 << 30, directory: URL(fileURLWithPath: try scratch.path("cache")))
        let synchronizer = Self.synchronizer(cache)
        let peer = try PeerProcess.okHttp(
            "\(server.plain)/check/", "\(Self.count)", "\(Self.concurrent)", try scratch.path("okhttp"))
        let costs = try await inTurns([
            { try await ours { try await synchronizer.load(resources[$0]).count } },
            { try peer.round(bytes: Self.bytes) },
        ])
        return Row(
            "revalidations (304), 20 KB, 6 at once", Comparison(costs[0].map(\.wall), costs[1].map(\.wall)),
            unit: .microseconds, against: "OkHttp", .atMost(1))
    }

    func multiplexed() async throws -> Row {
        let authority = try String(contentsOfFile: server.authority, encoding: .utf8)
        let synchronizer = Self.synchronizer(nil) {
            $0.tls.additionalAuthorities = authority
            ($0.maximumLoads, $0.maximumLoadsPerHost) = (64, 64)
        }
        let target = "\(server.secure)/fresh/"
        let resources = try (0..<Self.count).map { number in
            guard let url = URL(string: "\(target)\(number)") else { throw BenchmarkError("no URL") }
            return DataResource(url: url)
        }
        let peer = try PeerProcess.multi(target, "\(Self.count)", "64", server.authority)
        let costs = try await inTurns([
            { try await ours(concurrent: 64) { try await synchronizer.load(resources[$0]).count } },
            { try peer.round(bytes: Self.bytes) },
        ])
        return Row(
            "64 at once over one HTTP/2 connection with TLS", Comparison(costs[0].map(\.wall), costs[1].map(\.wall)),
            unit: .microseconds, against: "libcurl's multi interface, in C", .faster(0.7))
    }

    func large() async throws -> Row {
        guard let url = URL(string: "\(server.plain)/large") else { throw BenchmarkError("no URL") }
        let synchronizer = Self.synchronizer(nil) { $0.maximumResponseSize = NginxServer.largeSize }
        let (resource, size) = (DataResource(url: url), NginxServer.largeSize)
        let costs = try await inTurns([
            {
                let start = DispatchTime.now().uptimeNanoseconds
                guard try await synchronizer.load(resource).count == size else { throw BenchmarkError("short") }
                return Cost(wall: Double(DispatchTime.now().uptimeNanoseconds - start), cpu: 0)
            },
            {
                let start = DispatchTime.now().uptimeNanoseconds
                try NginxServer.run(["curl", "-s", "-o", "/dev/null", "--fail", url.absoluteString])
                return Cost(wall: Double(DispatchTime.now().uptimeNanoseconds - start), cpu: 0)
            },
        ])
        return Row(
            "one body of 256 MB, to memory", Comparison(costs[0].map(\.wall), costs[1].map(\.wall)),
            unit: .milliseconds, against: "curl -o /dev/null", .faster(0.8))
    }

    /// 5,000 loads whose bodies trickle in: resident memory for each, and threads more than before.
    func slow() async throws -> [Row] {
        let count = 5_000
        var limit = rlimit(rlim_cur: 20_000, rlim_max: 20_000)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw BenchmarkError("\(errno)")
        }
        let synchronizer = Self.synchronizer(nil) {
            ($0.maximumLoads, $0.maximumLoadsPerHost) = (count, count)
            $0.retry = .none
        }
        let (resident, threads) = (Self.status("VmRSS:"), Self.status("Threads:"))
        var tasks: [LoadTask] = []
        for number in 0..<count {
            guard let url = URL(string: "\(server.plain)/slow/\(number)") else { throw BenchmarkError("no URL") }
            tasks.append(await MainActor.run { synchronizer.startLoading(DataResource(url: url)) { _ in } })
        }
        for task in tasks { for await progress in task.progressUpdates where progress.received > 0 { break } }
        let each = Double(Self.status("VmRSS:") - resident) / Double(count)
        let more = Double(Self.status("Threads:") - threads)
        tasks.forEach { $0.cancel() }
        return [
            Row("5,000 slow loads at once, each", each, unit: "KB", atMost: 40),
            Row("threads for 5,000 slow loads", more, unit: "", atMost: 3),
        ]
    }

    /// A number that Linux tells about this process.
    private static func status(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
