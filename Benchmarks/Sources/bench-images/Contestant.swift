import Foundation
import Measuring

/// Whoever decodes, in a process of its own on one core: it decodes once for each line that it is sent.
///
/// The peers in `Benchmarks/Peers` keep to the same: they answer with nanoseconds of CPU, of all their threads, and with
/// the most bytes that the process has had in memory.
final class Contestant {
    let name: String
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private(set) var times: [Double] = []
    /// The peak of the whole process so far, in bytes.
    private(set) var peak = 0.0

    init(_ name: String, _ command: [String]) throws {
        self.name = name
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["taskset", "-c", "\(Self.core)"] + command
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The last core, which the system itself uses less than the first.
    private static var core: Int { max(0, ProcessInfo.processInfo.activeProcessorCount - 1) }

    /// Lets it decode once more, and write the picture, if it is asked to.
    func decode(writing picture: URL? = nil) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(picture?.path ?? "")\n".utf8))
        let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).split(separator: " ")
        guard answer.count == 2, let time = Double(answer[0]),
            let peak = Double(answer[1].trimmingCharacters(in: .newlines))
        else { throw BenchmarkError("\(name) does not decode") }
        times.append(time)
        self.peak = peak
    }
}
