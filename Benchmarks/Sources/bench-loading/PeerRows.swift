import Foundation
import Measuring
import Synchronizer

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

    /// What a load takes by the clock with the first client, beside the second.
    private static func row(
        _ name: String, _ costs: [[Cost]], unit: Row.Unit = .microseconds, against: String, _ goal: Row.Goal
    ) -> Finding {
        let comparison = Comparison(costs[0].map(\.wall), costs[1].map(\.wall))
        return .row(Row(name, comparison, unit: unit, against: against, goal))
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
        try (0..<Self.count).map { DataResource(url: try Self.url("\(server.plain)/\(path)/\($0)")) }
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw BenchmarkError("no URL: \(text)") }
        return url
    }

    private func storage(_ scratch: Scratch) throws -> SQLiteURLCache {
        SQLiteURLCache(
            memoryCapacity: 0, diskCapacity: 1 << 30, directory: URL(fileURLWithPath: try scratch.path("cache")))
    }

    // MARK: Rows

    /// The cold loads alone, for a profiler: prints what each takes.
    func profile(rounds: Int) async throws {
        let (resources, synchronizer) = (try resources("fresh"), Self.synchronizer(nil))
        for _ in 0..<rounds {
            let cost = try await ours { try await synchronizer.load(resources[$0]).count }
            print(Row.number(cost.wall / 1e3), "µs,", Row.number(cost.cpu / 1e3), "µs of processor time")
        }
    }

    /// The other clients, started.
    private func clients() -> [(name: String, process: Result<PeerProcess, any Error>)] {
        let (target, count, concurrent) = ("\(server.plain)/fresh/", "\(Self.count)", "\(Self.concurrent)")
        return [
            ("libcurl's multi interface, in C", { try PeerProcess.multi(target, count, concurrent) }),
            ("OkHttp", { try PeerProcess.okHttp(target, count, concurrent) }),
            ("aiohttp", { try PeerProcess.aiohttp(target, count, concurrent) }),
            ("Node's fetch", { try PeerProcess.fetch(target, count, concurrent) }),
        ].map { ($0.0, PeerProcess.started(bytes: Self.bytes, $0.1)) }
    }

    func cold() async throws -> [Finding] {
        let resources = try resources("fresh")
        let urls = resources.compactMap { $0.request().url }
        let synchronizer = Self.synchronizer(nil)
        let bare = BareSession(Self.session)
        let peers = clients()
        let able = peers.compactMap { peer in (try? peer.process.get()).map { (peer.name, $0) } }
        let costs = try await inTurns(
            [
                { try await ours { try await synchronizer.load(resources[$0]).count } },
                { try await ours { try await bare.data(from: urls[$0]).count } },
            ] + able.map { peer in { try peer.1.round(bytes: Self.bytes) } })
        let name = "cold loads, 20 KB, 6 at once, nothing stored"
        func row(_ suffix: String, of part: (Cost) -> Double, peer: Int, against: String, goal: Row.Goal)
            -> Finding
        {
            let comparison = Comparison(costs[0].map(part), costs[peer].map(part))
            return .row(Row(name + suffix, comparison, unit: .microseconds, against: against, goal))
        }
        let (foundation, c) = ("Foundation's URLSession, bare", peers[0].name)
        return [
            row("", of: \.wall, peer: 1, against: foundation, goal: .faster(5)),
            row(", processor time", of: \.cpu, peer: 1, against: foundation, goal: .atMost(0.2)),
        ]
            + able.enumerated().map { index, peer in
                peer.0 == c
                    ? row(", processor time", of: \.cpu, peer: 2 + index, against: c, goal: .atMost(1.8))
                    : row("", of: \.wall, peer: 2 + index, against: peer.0, goal: .faster(1))
            } + peers.compactMap { Finding(name, without: $0.name, $0.process) }
    }

    /// Each round stores other responses: a file system takes longer to make files where many have just been removed.
    func stored() async throws -> Finding {
        let scratch = try Scratch()
        let cache = try storage(scratch)
        let (plain, storing) = (Self.synchronizer(nil), Self.synchronizer(cache))
        let resources = try (0..<Self.rounds).map { try self.resources("fresh/\($0)") }
        var round = 0
        let costs = try await inTurns([
            {
                let resources = resources[round]
                round += 1
                let cost = try await ours { try await storing.load(resources[$0]).count }
                cache.flush()
                return cost
            },
            { try await ours { try await plain.load(resources[0][$0]).count } },
        ])
        return Self.row("cold loads, stored in SQLiteURLCache", costs, against: "the same, not stored", .atMost(1.5))
    }

    func revalidated() async throws -> Finding {
        let name = "revalidations (304), 20 KB, 6 at once"
        let resources = try resources("check")
        let scratch = try Scratch()
        let synchronizer = Self.synchronizer(try storage(scratch))
        let place = try scratch.path("okhttp")
        let started = PeerProcess.started(bytes: Self.bytes) {
            try PeerProcess.okHttp("\(server.plain)/check/", "\(Self.count)", "\(Self.concurrent)", place)
        }
        let peer: PeerProcess
        switch started {
        case .success(let process): peer = process
        case .failure(let error): return .missing("\(name), against OkHttp", error)
        }
        let costs = try await inTurns([
            { try await ours { try await synchronizer.load(resources[$0]).count } },
            { try peer.round(bytes: Self.bytes) },
        ])
        return Self.row(name, costs, against: "OkHttp", .atMost(1))
    }

    func multiplexed() async throws -> Finding {
        let authority = try String(contentsOfFile: server.authority, encoding: .utf8)
        let synchronizer = Self.synchronizer(nil) {
            $0.tls.additionalAuthorities = authority
            ($0.maximumLoads, $0.maximumLoadsPerHost) = (64, 64)
        }
        let target = "\(server.secure)/fresh/"
        let resources = try (0..<Self.count).map { DataResource(url: try Self.url("\(target)\($0)")) }
        let peer = try PeerProcess.multi(target, "\(Self.count)", "64", server.authority)
        let costs = try await inTurns([
            { try await ours(concurrent: 64) { try await synchronizer.load(resources[$0]).count } },
            { try peer.round(bytes: Self.bytes) },
        ])
        return Self.row(
            "64 at once over one HTTP/2 connection with TLS", costs, against: "libcurl's multi interface, in C",
            .faster(0.7))
    }

    func large() async throws -> Finding {
        let url = try Self.url("\(server.plain)/large")
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
        return Self.row(
            "one body of 256 MB, to memory", costs, unit: .milliseconds, against: "curl -o /dev/null", .faster(0.8))
    }

    /// 5,000 loads whose bodies trickle in: resident memory for each, and threads, beyond what one load takes. In a
    /// process of their own, which has no memory that other rows have given back.
    func slow() throws -> [Finding] {
        let output = try NginxServer.run([CommandLine.arguments[0], "--slow", server.plain])
        let words = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard words.count == 2 else { throw BenchmarkError("\(output)") }
        return [
            .row(Row("one of 5,000 slow loads at once", words[0], unit: "KB", atMost: 40)),
            .row(Row("threads for 5,000 slow loads, minus those for one", words[1], unit: "", atMost: 3)),
        ]
    }

    /// That process: prints KB for each, and threads.
    static func slow(_ origin: String) async throws {
        let count = 5_000
        var limit = rlimit(rlim_cur: 20_000, rlim_max: 20_000)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw BenchmarkError("\(errno)")
        }
        let synchronizer = synchronizer(nil) {
            ($0.maximumLoads, $0.maximumLoadsPerHost) = (count, count)
            $0.retry = .none
        }
        _ = try await synchronizer.load(DataResource(url: try url("\(origin)/fresh/0")))
        let (resident, threads) = (status("VmRSS:"), status("Threads:"))
        var tasks: [LoadTask] = []
        for number in 0..<count {
            let resource = DataResource(url: try url("\(origin)/slow/\(number)"))
            tasks.append(await MainActor.run { synchronizer.startLoading(resource) { _ in } })
        }
        for task in tasks { for await progress in task.progressUpdates where progress.received > 0 { break } }
        print(Double(status("VmRSS:") - resident) / Double(count), status("Threads:") - threads)
        tasks.forEach { $0.cancel() }
    }

    /// A number that Linux tells about this process.
    private static func status(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}

/// A row, or why there is none.
enum Finding {
    case row(Row)
    case missing(String, any Error)

    /// Nil if the peer is there.
    init?(_ name: String, without peer: String, _ process: Result<PeerProcess, any Error>) {
        guard case .failure(let error) = process else { return nil }
        self = .missing("\(name), against \(peer)", error)
    }
}

extension Report {
    mutating func add(_ finding: Finding) {
        switch finding {
        case .row(let row): add(row)
        case .missing(let name, let error): skip(name, because: "\(error)")
        }
    }
}
