import Foundation
import Synchronizer
import SynchronizerTesting
import ValkeyCache

#if Valkey && canImport(CHiredis)
    /// What hits cost in both levels of a shared cache, beside other ways to get the same 20 KB.
    struct SharedCost {
        let socket: String
        let directory: URL
        /// The port of an nginx with a proxy cache.
        let proxyPort: Int
        /// The command that measures requests-cache.
        let requestsCache: [String]

        private static let (size, calls) = (20_000, 5000)
        private static let url = "https://example.com/item"

        /// Prints a row for each peer, and returns whether all goals are met.
        func printTable() async throws -> Bool {
            var isMet = try await sharedHits()
            for memory in [0, 16 << 20] { isMet = try await localHits(memory: memory) && isMet }
            isMet = try await loads() && isMet
            return try await freeLeases() && isMet
        }

        private func cache(_ name: String, local: SQLiteURLCache) async throws -> ValkeyURLCache {
            let cache = try ValkeyURLCache(server: "unix://\(socket)", namespace: name, local: local)
            while !cache.statistics.isConnected { try await Task.sleep(for: .milliseconds(1)) }
            return cache
        }

        private func local(_ name: String, memory: Int, disk: Int = 64 << 20) -> SQLiteURLCache {
            SQLiteURLCache(
                memoryCapacity: memory, diskCapacity: disk, directory: directory.appendingPathComponent(name))
        }

        /// A level that keeps nothing.
        private var nothing: SQLiteURLCache { local("none", memory: 0, disk: 0) }

        // MARK: - Rows

        private func sharedHits() async throws -> Bool {
            let cache = try await cache("shared", local: nothing)
            try Self.fill(cache)
            let benchmark = try RedisBenchmark(socket: socket, size: Self.size, calls: Self.calls)
            let hit = try await Contest(
                name: "a hit in the shared level", peer: "\(benchmark.program) GET", goal: 1.5,
                ours: { try await Self.time(cache) }, theirs: { try benchmark.measure() }
            ).run()
            let request = try Self.request()
            // In the same loop, because a call after a wait for the server finds the processor's caches cold.
            let response = try await Contest(
                name: "a hit in the shared level, response made", peer: "the same and HTTPURLResponse.init", goal: 1.1,
                ours: { try await Self.time(cache) { ($0.response as? HTTPURLResponse)?.statusCode } },
                theirs: { try await Self.time(cache) { _ in try Self.response(to: request).statusCode } }
            ).run()
            return hit && response
        }

        private func localHits(memory: Int) async throws -> Bool {
            let name = memory == 0 ? "disk" : "memory"
            let cache = try await cache(name, local: local("front \(name)", memory: memory))
            let alone = local("alone \(name)", memory: memory)
            for cache in [cache, alone] { try Self.fill(cache) }
            cache.flush()
            alone.flush()
            return try await Contest(
                name: "a hit in the local level, \(name)", peer: "SQLiteURLCache alone", goal: 1.1,
                ours: { try await Self.time(cache) }, theirs: { try await Self.time(alone) }
            ).run()
        }

        /// Whole loads, which the shared level answers.
        private func loads() async throws -> Bool {
            let cache = try await cache("loads", local: nothing)
            guard let item = URL(string: "http://127.0.0.1:\(proxyPort)/item") else { throw URLError(.badURL) }
            let (shared, plain) = (Self.synchronizer(cache), Self.synchronizer(nil))
            let time = { (synchronizer: Synchronizer) in
                try await Contest.time(Self.calls) {
                    guard try await synchronizer.load(DataResource(url: item)).count == Self.size else {
                        throw URLError(.cannotDecodeRawData)
                    }
                }
            }
            let peer = try PeerProcess(requestsCache + [socket, item.absoluteString, "\(Self.calls / 5)"])
            let proxy = try await Contest(
                name: "a load that the shared level answers", peer: "a load that nginx's proxy_cache answers", goal: 1,
                ours: { try await time(shared) }, theirs: { try await time(plain) }
            ).run()
            let requests = try await Contest(
                name: "a load that the shared level answers", peer: "requests-cache with Redis", goal: 1,
                ours: { try await time(shared) }, theirs: { try peer.measure() }
            ).run()
            guard cache.statistics.sharedHits > Contest.rounds * Self.calls else { throw URLError(.unknown) }
            return proxy && requests
        }

        /// Whole loads, which nothing stored answers, with and without a lease of the server. A lease costs one call more.
        private func freeLeases() async throws -> Bool {
            let server = try ScriptedServer()
            server.handle("/item") { _ in Reply(Data(count: 1000), fields: ["Cache-Control": "max-age=600"]) }
            let cache = try await cache("leases", local: nothing)
            let (leasing, plain) = (Self.synchronizer(cache), Self.synchronizer(cache, takesLeases: false))
            var count = 0
            let time = { (synchronizer: Synchronizer) in
                try await Contest.time(Self.calls / 5) {
                    count += 1
                    _ = try await synchronizer.load(DataResource(url: server.url("/item?\(count)")))
                }
            }
            let roundTrip = try RedisBenchmark(socket: socket, size: 100, calls: Self.calls)
            return try await Contest(
                name: "a load with a free lease of the server", peer: "without leases, and a GET of 100 bytes",
                goal: 1.1, ours: { try await time(leasing) },
                theirs: { try await time(plain) + roundTrip.measure() }
            ).run()
        }

        private static func synchronizer(_ cache: URLCache?, takesLeases: Bool = true) -> Synchronizer {
            var configuration = Synchronizer.Configuration(urlCache: cache)
            (configuration.memoryCapacity, configuration.caching) = (0, .managed)
            if !takesLeases { configuration.leases = nil }
            return Synchronizer(configuration: configuration)
        }

        // MARK: - Hits

        private static func request() throws -> URLRequest {
            guard let url = URL(string: url) else { throw URLError(.badURL) }
            return URLRequest(url: url)
        }

        private static func response(to request: URLRequest) throws -> HTTPURLResponse {
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                    headerFields: ["Cache-Control": "max-age=600", "Content-Type": "image/jpeg", "ETag": "\"1\""])
            else { throw URLError(.badURL) }
            return response
        }

        private static func fill(_ cache: URLCache) throws {
            let request = try request()
            cache.storeCachedResponse(
                CachedURLResponse(response: try response(to: request), data: Data(repeating: 7, count: size)),
                for: request)
        }

        /// - Parameter status: gets the status of a hit, which must be 200.
        private static func time(
            _ cache: URLCache, status: (CachedURLResponse) throws -> Int? = { _ in 200 }
        ) async throws -> Double {
            let request = try request()
            return try await Contest.time(calls) {
                guard let found = cache.cachedResponse(for: request), found.data.count == size,
                    try status(found) == 200
                else { throw URLError(.cannotDecodeRawData) }
            }
        }
    }

    /// redis-benchmark or valkey-benchmark: a GET on one connection.
    private struct RedisBenchmark {
        let program: String
        private let options: [String]

        init(socket: String, size: Int, calls: Int) throws {
            let programs = ["redis-benchmark", "valkey-benchmark"]
            let found = programs.first { (try? PeerProcess.output(of: [$0, "--version"]))?.isEmpty == false }
            guard let found else { throw URLError(.fileDoesNotExist) }
            program = found
            options = ["-s", socket, "-d", "\(size)", "-c", "1", "--csv", "-n"]
            _ = try PeerProcess.output(of: [program] + options + ["1", "-t", "set"])
            self.calls = calls
        }

        private let calls: Int

        /// Microseconds.
        func measure() throws -> Double {
            let text = try PeerProcess.output(of: [program] + options + ["\(calls)", "-t", "get"])
            let line = text.split(separator: "\n").first { $0.hasPrefix("\"GET\"") }
            let rate = line?.split(separator: ",").dropFirst().first.flatMap { Double($0.filter { $0 != "\"" }) }
            guard let rate, rate > 0 else { throw URLError(.cannotParseResponse) }
            return 1e6 / rate
        }
    }
#endif
