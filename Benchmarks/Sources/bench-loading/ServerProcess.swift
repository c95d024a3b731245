import Foundation
import Measuring
import ScriptedServer

/// The server in a process of its own, so that what it costs is not counted as ours: this program, started with
/// `--serve`. It ends with the pipe that it reads from.
final class ServerProcess {
    static let bodySize = 20_480

    private let process = Process()
    private let input = Pipe()
    private let base: String
    var origin: String { base }

    /// - Parameter bytesPerSecond: nil for as fast as it can.
    init(bytesPerSecond: Int? = nil) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--serve", "\(bytesPerSecond ?? 0)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkError("the server said \(line)")
        }
        base = "http://127.0.0.1:\(port)"
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func url(_ number: Int) throws -> URL {
        guard let url = URL(string: "\(base)/photo/\(number)") else { throw BenchmarkError("no URL") }
        return url
    }

    /// Serves until the input ends.
    static func serve(bytesPerSecond: Int) throws {
        let body = Data((0..<bodySize).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let reply = Reply(
            body,
            fields: [
                "Content-Type": "image/jpeg", "Cache-Control": "max-age=3600", "ETag": "\"1\"",
            ]
        ).adding("Date", date: Date())
        let server = try ScriptedServer { _ in reply }
        server.keepRequests(atMost: 1)
        if bytesPerSecond > 0 { server.limitBandwidth(to: bytesPerSecond) }
        print(server.port)
        fflush(nil)
        while !FileHandle.standardInput.availableData.isEmpty {}
        server.stop()
    }
}
