#if !canImport(Darwin)
    import Foundation
    import Measuring
    import Synchronizer

    /// A download to a file, beside `curl -o`.
    struct FileRows {
        static let size = 2 << 30
        let server: NginxServer

        /// The time of a download, and the memory beyond that of a process that has done a small one.
        func rows() throws -> [Row] {
            let scratch = try Scratch()
            let folder = try scratch.path("files")
            let url = try Self.hugeFile(in: server)
            var (ours, theirs, memory): ([Double], [Double], [Double]) = ([], [], [])
            for _ in 0..<4 {
                let words = try Self.ourDownload(from: url, warmingUpWith: "\(server.plain)/body", to: "\(folder)/ours")
                ours.append(words[0])
                memory.append(words[1])
                let arguments = ["curl", "-s", "-o", "\(folder)/theirs", "-w", "%{time_total}", url]
                theirs.append((Double(try NginxServer.run(arguments)) ?? 0) * 1e9)
                for name in ["ours", "theirs"] {
                    let path = "\(folder)/\(name)"
                    guard (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) == Self.size else {
                        throw BenchmarkError("\(name) is not whole")
                    }
                    try FileManager.default.removeItem(atPath: path)
                }
            }
            return [
                Row(
                    "2 GB download to a file", Comparison(ours, theirs), unit: .milliseconds, against: "curl -o",
                    .atMost(1.15)),
                Row(
                    "2 GB download to a file: peak memory beyond an idle process",
                    (memory.max() ?? 0) / Double(1 << 20), unit: "MB", atMost: 8),
            ]
        }

        private static func hugeFile(in server: NginxServer) throws -> String {
            let path = server.authority.replacingOccurrences(of: "/certificate", with: "/huge")
            guard FileManager.default.createFile(atPath: path, contents: nil), truncate(path, size) == 0 else {
                throw BenchmarkError("huge: \(errno)")
            }
            return "\(server.plain)/huge"
        }

        private static func ourDownload(
            from url: String, warmingUpWith small: String, to path: String
        ) throws -> [Double] {
            let printed = try NginxServer.run([CommandLine.arguments[0], "--file", url, small, path])
            let words = printed.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard words.count == 2 else { throw BenchmarkError(printed) }
            return words
        }

        /// This program as a downloader: prints the nanoseconds and the bytes of memory.
        static func download(_ url: String, warmingUpWith small: String, to path: String) async throws {
            guard let url = URL(string: url), let small = URL(string: small) else { throw BenchmarkError(url) }
            let synchronizer = Synchronizer(configuration: .init(urlCache: nil))
            let destination = URL(fileURLWithPath: path)
            _ = try await synchronizer.load(FileResource(url: small, to: destination))
            let idle = peak
            let start = DispatchTime.now().uptimeNanoseconds
            _ = try await synchronizer.load(FileResource(url: url, to: destination))
            print(DispatchTime.now().uptimeNanoseconds - start, peak - idle)
        }

        /// The most bytes that this process has had in memory.
        private static var peak: Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
            return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
        }
    }
#endif
