import Dispatch
import Foundation

/// How long something takes, in nanoseconds.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    try body()
    return Double(DispatchTime.now().uptimeNanoseconds - start)
}

/// What is wrong with a measurement.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    if sorted.isEmpty { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Two things measured in turns, so that what else the machine does falls on both.
struct Comparison {
    /// Medians of the rounds, in nanoseconds for one operation.
    let value: Double
    let yardstick: Double
    /// The median of the rounds' own ratios.
    let ratio: Double

    /// - Parameters:
    ///   - ours, theirs: do it, and return nanoseconds for one operation.
    init(rounds: Int = 7, _ ours: () throws -> Double, against theirs: () throws -> Double) throws {
        var values: [Double] = []
        var yardsticks: [Double] = []
        _ = try (ours(), theirs())  // warms up
        for round in 0..<rounds {
            // Whoever comes second may find the processor's caches differently: so they take turns at that too.
            if round % 2 == 0 {
                values.append(try ours())
                yardsticks.append(try theirs())
            } else {
                yardsticks.append(try theirs())
                values.append(try ours())
            }
        }
        value = median(values)
        yardstick = median(yardsticks)
        ratio = median(zip(values, yardsticks).map { $0 / $1 })
    }
}

/// A directory for the time of a measurement.
final class Scratch {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) throws -> String {
        let made = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        return made.path
    }
}
