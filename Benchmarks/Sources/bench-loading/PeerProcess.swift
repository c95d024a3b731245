import Foundation
import Measuring

/// A program that does a round of loads for each line that it gets, and says what a load took: `Peers/multi.c`.
final class PeerProcess {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var pending = Data()

    /// - Parameter arguments: the program, and what it is started with.
    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try? output.fileHandleForWriting.close()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Nanoseconds of wall and processor time for a load.
    func round(bytes expected: Int) throws -> NetworkRows.Cost {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        while !pending.contains(UInt8(ascii: "\n")) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw BenchmarkError("\(process.arguments ?? []) has ended") }
            pending.append(more)
        }
        let words = String(decoding: pending, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap {
            Double($0)
        }
        pending = Data()
        guard words.count == 3, Int(words[2]) == expected else { throw BenchmarkError("\(words)") }
        return NetworkRows.Cost(wall: words[0], cpu: words[1])
    }

    /// Where the peers' programs and sources are.
    static func path(_ name: String) -> String {
        // Not standardized: that would follow the link by which Python knows its virtual environment.
        let package = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return package.appendingPathComponent(name).path
    }

    /// A peer that has done a round, or why it cannot.
    static func started(bytes: Int, _ start: () throws -> PeerProcess) -> Result<PeerProcess, any Error> {
        Result {
            let peer = try start()
            _ = try peer.round(bytes: bytes)
            return peer
        }
    }

    static func multi(_ arguments: String...) throws -> PeerProcess {
        try PeerProcess([path(".build/peers/multi")] + arguments)
    }

    static func okHttp(_ arguments: String...) throws -> PeerProcess {
        let libraries = ["okhttp", "okio"].map { "/usr/share/java/\($0).jar" }.joined(separator: ":")
        return try PeerProcess(["java", "-cp", libraries, path("Peers/OkHttpLoads.java")] + arguments)
    }

    static func fetch(_ arguments: String...) throws -> PeerProcess {
        try PeerProcess(["node", path("Peers/fetches.mjs")] + arguments)
    }

    static func aiohttp(_ arguments: String...) throws -> PeerProcess {
        try PeerProcess([path(".build/peers/caches/bin/python"), path("Peers/loads.py")] + arguments)
    }
}
