import Foundation

/// A program that does one pass for each line that it is sent, so that its passes and ours come in turns. It says "ready"
/// first, and answers with the microseconds of one operation.
public final class Peer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Throws: `BenchmarkError` if a file that the command names is not there, or if the program does not start.
    public init(_ command: [String]) throws {
        let files = command.filter { !$0.contains("://") }
        for path in files.flatMap({ $0.split(separator: ":") }) where path.hasPrefix("/") {
            guard FileManager.default.fileExists(atPath: String(path)) else {
                throw BenchmarkError("there is no \(path)")
            }
        }
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let greeting = try line()
        guard greeting == "ready" else { throw BenchmarkError("\(command[0]) said \(greeting)") }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Has it do a pass; nanoseconds of one operation.
    public func pass() throws -> Double {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        let answer = try line()
        guard let microseconds = Double(answer) else { throw BenchmarkError("it said \(answer)") }
        return microseconds * 1_000
    }

    private func line() throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw BenchmarkError("it has ended") }
            line += more
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}
