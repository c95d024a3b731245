import Foundation
import Measuring

/// A decoder in a process of its own, on one core. It decodes once for each line that it reads, and prints the CPU time of
/// all its threads in nanoseconds. The peers in `Benchmarks/Peers` do the same.
final class Contestant {
    let name: String
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var idle = 0
    /// Nanoseconds of each decode.
    private(set) var times: [Double] = []

    init(_ name: String, _ command: [String]) throws {
        self.name = name
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["taskset", "-c", "\(Self.core)"] + command
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let greeting = try line()
        guard greeting == "ready" else {
            throw BenchmarkError("\(name) does not start: \(command.joined(separator: " ")) said \(greeting)")
        }
        idle = Usage.anonymous(process.processIdentifier)
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The last core, which the system itself uses less than the first.
    private static var core: Int { max(0, ProcessInfo.processInfo.activeProcessorCount - 1) }

    /// Lets it decode once more, and write the picture, if it is asked to.
    func decode(writing picture: URL? = nil) throws {
        try ask(for: picture)
        times.append(try answer())
    }

    private func ask(for picture: URL?) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(picture?.path ?? "")\n".utf8))
    }

    private func answer() throws -> Double {
        let answer = try line()
        guard let time = Double(answer) else { throw BenchmarkError("\(name) does not decode: \(answer)") }
        return time
    }

    private func line() throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw BenchmarkError("\(name) has ended") }
            line += more
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }

    /// Lets it decode, and measures how much memory of its own it takes at most beyond what it takes when idle:
    /// what it has allocated, without programs, libraries and files.
    func peakMemory() throws -> Double {
        try ask(for: nil)
        var peak = idle
        var descriptor = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        while poll(&descriptor, 1, 0) == 0 {
            peak = max(peak, Usage.anonymous(process.processIdentifier))
            usleep(50)
        }
        _ = try answer()
        return Double(peak - idle)
    }
}
