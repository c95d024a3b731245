#if !canImport(Darwin)
    import Foundation
    import Measuring
    import Synchronizer

    /// A download to a file, with and without a cache that takes its body, beside `curl -o`.
    struct FileRows {
        static let size = 2 << 30
        let server: NginxServer

        /// The time of a download, and the memory beyond that of a process that has done a small one.
        func rows() throws -> [Row] {
            let scratch = try Scratch()
            let folder = try scratch.path("files")
            let url = try Self.hugeFile(in: server)
            var (plain, cached, theirs): ([[Double]], [[Double]], [Double]) = ([], [], [])
            for round in 0..<4 {
                let small = "\(server.plain)/body"
                plain.append(try Self.ourDownload([url, small, "\(folder)/file"]))
                // Each round has an empty cache. Its body becomes that of an entry, and the file a link to it.
                let cache = try scratch.path("cache-\(round)")
                cached.append(try Self.ourDownload([url, small, "\(folder)/file", cache]))
                try FileManager.default.removeItem(atPath: cache)
                let curl = ["curl", "-s", "-o", "\(folder)/file", "-w", "%{time_total}", url]
                theirs.append((Double(try NginxServer.run(curl)) ?? 0) * 1e9)
                try Self.removeWhole("\(folder)/file")
            }
            return [("2 GB download to a file", plain), ("2 GB download to a file through a cache", cached)].flatMap {
                (name, measured) in
                [
                    Row(
                        name, Comparison(measured.map { $0[0] }, theirs), unit: .milliseconds, against: "curl -o",
                        .atMost(1.15)),
                    Row(
                        name + ": peak memory beyond an idle process",
                        (measured.map { $0[1] }.max() ?? 0) / Double(1 << 20), unit: "MB", atMost: 8),
                ]
            }
        }

        private static func removeWhole(_ path: String) throws {
            guard (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) == size else {
                throw BenchmarkError("\(path) is not whole")
            }
            try FileManager.default.removeItem(atPath: path)
        }

        private static func hugeFile(in server: NginxServer) throws -> String {
            let path = server.authority.replacingOccurrences(of: "/certificate", with: "/huge")
            guard FileManager.default.createFile(atPath: path, contents: nil), truncate(path, size) == 0 else {
                throw BenchmarkError("huge: \(errno)")
            }
            return "\(server.plain)/huge"
        }

        private static func ourDownload(_ arguments: [String]) throws -> [Double] {
            let printed = try NginxServer.run([CommandLine.arguments[0], "--file"] + arguments)
            let words = printed.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard words.count == 2, let path = arguments.dropFirst(2).first else { throw BenchmarkError(printed) }
            try removeWhole(path)
            return words
        }

        /// This program as a downloader: prints the nanoseconds and the bytes of memory.
        /// - Parameter directory: the folder of a cache that takes the body; nil for no cache.
        static func download(
            _ url: String, warmingUpWith small: String, to path: String, cachingIn directory: String?
        ) async throws {
            guard let url = URL(string: url), let small = URL(string: small) else { throw BenchmarkError(url) }
            let cache = directory.map {
                SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 5 << 30, directory: URL(fileURLWithPath: $0))
            }
            let synchronizer = Synchronizer(configuration: .init(cacheTime: 60, urlCache: cache))
            let destination = URL(fileURLWithPath: path)
            _ = try await synchronizer.load(FileResource(url: small, to: destination))
            let idle = peak
            let start = DispatchTime.now().uptimeNanoseconds
            _ = try await synchronizer.load(FileResource(url: url, to: destination))
            print(DispatchTime.now().uptimeNanoseconds - start, peak - idle)
            let isCached = directory == nil || cache?.currentDiskUsage ?? 0 >= size
            guard isCached else { throw BenchmarkError("the cache has not taken the body") }
        }

        /// The most bytes that this process has had in memory.
        private static var peak: Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
            return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
        }
    }
#endif
