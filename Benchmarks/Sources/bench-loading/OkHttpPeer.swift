import Foundation
import Measuring

/// OkHttp's cache (Debian's `libokhttp-java`), in a process of its own.
struct OkHttpPeer {
    let server: ServerProcess

    /// Nanoseconds of one whole cached GET, by pass; an error says what is missing.
    func passes(entries: Int) throws -> [Double] {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Peers/OkHttpCache.java").standardizedFileURL.path
        let libraries = ["okhttp", "okio"].map { "/usr/share/java/\($0).jar" }
        for file in libraries + ["/usr/bin/java", program] where !FileManager.default.fileExists(atPath: file) {
            throw BenchmarkError("there is no \(file)")
        }
        let scratch = try Scratch()
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/java")
        process.arguments = [
            "-cp", libraries.joined(separator: ":"), program, server.origin, "\(entries)", try scratch.path("okhttp"),
        ]
        process.standardOutput = output
        process.standardError = Pipe()
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let passes = text.split(separator: "\n").compactMap { Double($0) }
        guard process.terminationStatus == 0, !passes.isEmpty else { throw BenchmarkError("java said \(text)") }
        return passes.map { $0 * 1_000 }
    }
}
