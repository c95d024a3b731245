import Foundation

/// One line of the table.
struct Row: Codable {
    /// What the ratio is, and which way is better.
    enum Goal {
        /// The value may be at most that many times the other.
        case atMost(Double)
        /// The value must be at least that many times faster than the other.
        case faster(Double)
    }

    let name: String
    let value: Double
    let unit: String
    let against: String
    let ratio: Double
    let goal: String
    let met: Bool
    /// The value of the other, in the same unit.
    let yardstick: Double

    init(_ name: String, _ comparison: Comparison, unit: Unit, against: String, _ goal: Goal, limit: Double? = nil) {
        self.name = name
        self.unit = unit.rawValue
        self.against = against
        value = comparison.value / unit.nanoseconds
        yardstick = comparison.yardstick / unit.nanoseconds
        let isWithinLimit = limit.map { comparison.value <= $0 } ?? true
        let extra = limit.map { ", under \(Row.number($0 / unit.nanoseconds)) \(unit.rawValue)" } ?? ""
        switch goal {
        case .atMost(let most):
            ratio = comparison.ratio
            met = ratio <= most && isWithinLimit
            self.goal = "≤ \(Row.number(most))×\(extra)"
        case .faster(let least):
            ratio = 1 / comparison.ratio
            met = ratio >= least && isWithinLimit
            self.goal = "≥ \(Row.number(least))× faster\(extra)"
        }
    }

    enum Unit: String {
        case microseconds = "µs"
        case milliseconds = "ms"

        var nanoseconds: Double { self == .microseconds ? 1e3 : 1e6 }
    }

    static func number(_ value: Double) -> String {
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
        let text = String(format: "%.\(digits)f", value)
        return text.hasSuffix(".00") ? String(text.dropLast(3)) : text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
