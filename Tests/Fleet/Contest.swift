import Foundation

/// Something that is measured in turns with a peer: both several times, and each first in half of the rounds.
struct Contest {
    static let rounds = 15

    let name: String
    let peer: String
    /// How many times as long as the peer it may take.
    let goal: Double
    /// Each returns microseconds of one call, on average of many.
    let ours: () async throws -> Double
    let theirs: () async throws -> Double

    /// Prints the medians, and returns whether the goal is met.
    func run() async throws -> Bool {
        _ = try await (ours(), theirs())  // files and connections are open now
        var times: (ours: [Double], theirs: [Double]) = ([], [])
        for round in 0..<Self.rounds {
            if round % 2 == 0 { times.ours.append(try await ours()) }
            times.theirs.append(try await theirs())
            if round % 2 == 1 { times.ours.append(try await ours()) }
        }
        let medians = (ours: median(times.ours), theirs: median(times.theirs))
        let isMet = medians.ours <= goal * medians.theirs
        say(
            name
                + String(
                    format: ": %.2f µs; %@ %.2f µs; %.2f times, goal at most %.2f: %@", medians.ours, peer,
                    medians.theirs, medians.ours / medians.theirs, goal, isMet ? "met" : "MISSED"))
        return isMet
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// Microseconds of a call.
    static func time(_ calls: Int, _ call: () async throws -> Void) async throws -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        for _ in 0..<calls { try await call() }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1000 / Double(calls)
    }
}

/// A peer in a process of its own, which answers each line with a number.
final class PeerProcess {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    /// - Parameter command: the program, as the shell finds it, and its arguments.
    init(_ command: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func measure() throws -> Double {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let number = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw URLError(.cannotParseResponse)
        }
        return number
    }

    /// What a program prints.
    static func output(of command: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
