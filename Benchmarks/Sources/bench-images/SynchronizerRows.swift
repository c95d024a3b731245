import Foundation
import ImageResource
import Measuring
import ScriptedServer
import Synchronizer

/// The photographs by way of a server and a `Synchronizer`.
enum SynchronizerRows {
    /// `bench-images --serve`: serves the pictures until its input ends.
    static func serve() throws {
        let server = try ScriptedServer { request in
            let path = Pictures.file(String(request.target.dropFirst()))
            guard let data = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped) else {
                return Reply("not found", status: 404)
            }
            return Reply(data, fields: ["Cache-Control": "max-age=3600", "ETag": "\"1\""])
        }
        server.keepRequests(atMost: 1)
        print(server.port)
        fflush(nil)
        while !FileHandle.standardInput.availableData.isEmpty {}
        server.stop()
    }

    /// `bench-images --load PORT`: loads two hundred photographs, and prints the most memory that it had, in bytes.
    static func load(_ port: String) async throws {
        let synchronizer = Synchronizer(urlCache: nil)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                guard
                    let url = URL(string: "http://127.0.0.1:\(port)/photographs/\(String(format: "%03d", number)).jpg")
                else { throw BenchmarkError("no URL") }
                group.addTask { try await synchronizer.load(ImageResource(url: url, maxPixelSize: 256)).width }
            }
            for try await width in group where width != 256 { throw BenchmarkError("\(width) pixels") }
        }
        print(Usage.peak)
    }

    /// The number of processes. The peak of a process differs from run to run, because its threads are scheduled differently.
    private static let processes = 15

    static func peakMemory() throws -> Row {
        let server = try PictureServer()
        let peaks = try (0..<processes).map { _ in
            Double(try Shell.output(Pictures.ours("--load", server.port)).dropLast()) ?? .nan
        }
        return Row(
            "peak memory of 200 photographs through a Synchronizer → 256 px, the worst of \(processes) processes",
            peaks.contains { $0.isNaN } ? .nan : (peaks.max() ?? .nan) / 1e6, unit: "MB", atMost: 150)
    }
}

/// The server in a process of its own; it ends with the pipe that it reads from.
final class PictureServer {
    let port: String
    private let process = Process()
    private let input = Pipe()

    init() throws {
        let output = Pipe()
        let command = Pictures.ours("--serve")
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
