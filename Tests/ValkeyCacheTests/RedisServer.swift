#if Valkey
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import TestSupport
    import Testing

    @testable import ValkeyCache

    /// A `redis-server` of a test, on a socket in a directory of its own. It is killed with this object.
    final class RedisServer {
        static let isInstalled = ["/usr/bin/redis-server", "/usr/bin/valkey-server"].contains {
            FileManager.default.isExecutableFile(atPath: $0)
        }

        /// The server ended instead of starting.
        struct Ended: Error {
            let output: String
        }

        private let folder = DisposableDirectory("redis")
        private var process = Process()
        private let options: [String]

        var directory: URL { folder.url }
        var socket: String { directory.path + "/socket" }
        var url: String { "unix://\(socket)" }

        convenience init(_ options: String...) throws {
            try self.init(options)
        }

        init(_ options: [String]) throws {
            self.options = options
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try start()
        }

        deinit {
            stop()
        }

        /// Returns when the server accepts connections.
        func start() throws {
            process = Process()
            let program = ["/usr/bin/redis-server", "/usr/bin/valkey-server"].first {
                FileManager.default.isExecutableFile(atPath: $0)
            }
            process.executableURL = URL(fileURLWithPath: try #require(program))
            process.arguments =
                [
                    "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir",
                    directory.path,
                ]
                + options
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            try output.fileHandleForWriting.close()
            var text = ""
            while !text.contains("eady to accept connections") {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { throw Ended(output: text) }
                text += String(decoding: data, as: UTF8.self)
            }
            // Later output must not fill the pipe.
            Thread.detachNewThread { while !output.fileHandleForReading.availableData.isEmpty {} }
        }

        func stop() {
            guard process.isRunning else { return }
            kill(process.processIdentifier, SIGCONT)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        func pause() { kill(process.processIdentifier, SIGSTOP) }
        func resume() { kill(process.processIdentifier, SIGCONT) }

        /// Runs a command on a connection of its own.
        @discardableResult
        func run(_ words: String..., password: String? = nil) throws -> ValkeyCache.Reply {
            let connection = try Connection(to: .socket(socket), until: Deadline(after: 60))
            let commands = (password.map { [Command(["AUTH", $0])] } ?? []) + [Command(words)]
            return try #require(try connection.call(commands, until: Deadline(after: 60)).last)
        }

        /// Deletes all keys but one, in one step.
        func evictAll(but key: String) throws {
            let script = """
                local value = redis.call('GET', KEYS[1])
                redis.call('FLUSHALL')
                return redis.call('SET', KEYS[1], value)
                """
            #expect(try run("EVAL", script, "1", key) == .status("OK"))
        }
    }

    extension ValkeyURLCache {
        /// A cache with a patience that a busy machine does not exceed, unless the test is about that.
        static func test(
            _ url: String, namespace: String = "test", local: SQLiteURLCache? = nil, wait: TimeInterval = 60,
            time: any TimeSource = SystemTime(), reports: Lines = Lines(), change: (inout Options) -> Void = { _ in }
        ) throws -> ValkeyURLCache {
            var options = Options()
            options.longestWait = wait
            change(&options)
            return try ValkeyURLCache(
                server: url, namespace: namespace, local: local, options: options, time: time,
                report: { reports.add($0) })
        }

        /// Returns once the server announces changes.
        func connected() async throws -> ValkeyURLCache {
            try await waitUntil("connected") { statistics.isConnected }
            return self
        }
    }

    /// The lines that a cache has logged.
    final class Lines: Sendable {
        private let kept = Locked<[String]>([])

        func add(_ line: String) { kept.withLock { $0.append(line) } }
        var all: [String] { kept.withLock { $0 } }
    }

    extension DisposableDirectory {
        /// Several paths of one directory in it. Caches with different paths share the directory as processes do.
        func paths(_ count: Int) throws -> [URL] {
            let paths = (0..<count).map { url.appendingPathComponent("\($0)") }
            try FileManager.default.createDirectory(
                at: paths[0], withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for path in paths.dropFirst() {
                try FileManager.default.createSymbolicLink(at: path, withDestinationURL: paths[0])
            }
            return paths
        }
    }

    enum Sample {
        static let url = "https://example.com/feed?page=1"

        static func response(
            _ fields: [(String, String)] = [("Cache-Control", "max-age=600")], url: String = url,
            selecting: [(String, String)] = [], at time: Date = Date()
        ) -> StoredResponse {
            StoredResponse(
                url: url, method: "GET", selectingFields: HTTPFields(selecting), status: 200,
                fields: HTTPFields(fields), requestTime: time, responseTime: time)
        }

        static func cached(
            _ body: Data, url: String = url, policy: URLCache.StoragePolicy = .allowed
        ) throws -> CachedURLResponse {
            let response = HTTPURLResponse(
                url: try #require(URL(string: url)), statusCode: 200, httpVersion: "HTTP/1.1",
                headerFields: ["Cache-Control": "max-age=600"])
            return CachedURLResponse(
                response: try #require(response), data: body, userInfo: nil, storagePolicy: policy)
        }

        static func body(_ size: Int, seed: UInt64 = 1) -> Data {
            var random = SeededGenerator(seed: seed)
            return Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
    }

    extension ValkeyURLCache {
        /// Stores a response of which only the body matters: one that is requested now, after a lookup, unless a time is given.
        @discardableResult
        func put(
            _ body: Data, url: String = Sample.url, selecting: [(String, String)] = [],
            policy: URLCache.StoragePolicy = .allowed, at time: Date? = nil
        ) throws -> Int64? {
            if time == nil { _ = entries(for: url) }
            return store(
                Sample.response(url: url, selecting: selecting, at: time ?? Date()),
                as: try Sample.cached(body, url: url, policy: policy))
        }

        /// Returns when this cache has heard of all changes that another one has made.
        func hearsAll(of other: ValkeyURLCache) async throws {
            let marker = "https://example.com/marker"
            let lookup = level.coherence.withLock { $0.begin(URLDigest.key(marker)) }
            other.removeEntries(for: marker)  // announced after the others
            try await waitUntil("heard") { level.coherence.withLock { !$0.isCurrent(lookup) } }
            level.coherence.withLock { $0.end(lookup) }
        }

        /// The bodies of all entries of a URL, newest first.
        func bodies(_ url: String = Sample.url) -> [Data?] {
            entries(for: url).map { $0.body ?? body(of: $0) }
        }
    }
#endif
