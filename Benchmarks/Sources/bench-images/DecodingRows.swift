import Foundation
import Measuring

/// One picture, decoded again and again by us and by the peers in turns.
struct DecodingRows {
    let name: String
    let operation: String
    let file: String
    let peers: [Pictures.Peer]
    let time: Double
    var unit = Row.Unit.milliseconds
    var memory: Double?
    /// The photographs whose thumbnails are compared with a full decode scaled with Lanczos.
    var judged: [String] = []
    private static let rounds = 11

    func rows() throws -> [Row] {
        let all = try Pictures.contestants(operation, file, peers)
        var rows: [Row] = []
        if let memory { rows.append(try memoryRow(all, memory)) }
        for round in 0...Self.rounds {
            for index in all.indices { try all[(index + round) % all.count].decode() }
        }
        rows.insert(timeRow(all), at: 0)
        if !judged.isEmpty { rows.append(try qualityRow()) }
        return rows
    }

    /// Against the fastest of the peers.
    private func timeRow(_ all: [Contestant]) -> Row {
        let best = all.dropFirst().min { median($0.times) < median($1.times) } ?? all[0]
        return Row(
            name, Comparison(all[0].times, best.times), unit: unit, against: best.name, .atMost(time))
    }

    /// Against the most frugal of the peers.
    private func memoryRow(_ all: [Contestant], _ goal: Double) throws -> Row {
        let peaks = try all.map { contestant in try (0..<3).map { _ in try contestant.peakMemory() / 1e6 } }
        let best = peaks.indices.dropFirst().min { median(peaks[$0]) < median(peaks[$1]) } ?? 0
        return Row(
            name + ", memory", Comparison(peaks[0], peaks[best]), unit: "MB", against: all[best].name, .atMost(goal))
    }

    /// Against the best of the peers: the means over the photographs.
    private func qualityRow() throws -> Row {
        let scratch = try Scratch()
        var decibels: [String: [Double]] = [:]
        for photograph in judged {
            let all = try Pictures.contestants(operation, photograph, peers)
            let pictures = all.indices.map { scratch.url.appendingPathComponent("\($0).png") }
            for (contestant, picture) in zip(all, pictures) {
                try contestant.decode(writing: picture)
                try contestant.decode()  // the picture is written by now
            }
            let judge = Pictures.script("quality.py") + [photograph] + pictures.map(\.path)
            let values = try Shell.output(judge).split(separator: "\n").compactMap { Double($0) }
            for (contestant, value) in zip(all, values) { decibels[contestant.name, default: []].append(value) }
        }
        let means = decibels.mapValues { $0.reduce(0, +) / Double($0.count) }
        let ours = means["Synchronizer"] ?? 0
        let best = means.filter { $0.key != "Synchronizer" }.max { $0.value < $1.value }
        return Row(
            name + ", quality", Comparison([0, ours], [0, best?.value ?? .nan]), unit: "dB",
            against: best?.key ?? "", .atLeast(1))
    }
}

/// Runs programs.
enum Shell {
    /// Runs one to its end, and says how many nanoseconds that took.
    static func time(_ command: [String]) throws -> Double {
        try nanoseconds { _ = try output(command) }
    }

    static func output(_ command: [String]) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("\(command[0]) failed") }
        return String(decoding: data, as: UTF8.self)
    }
}
