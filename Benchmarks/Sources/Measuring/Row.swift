import Foundation

/// One line of the table, and one element of the list that `--json` writes.
public struct Row: Codable, Sendable {
    /// The goal of a row: how its value must compare with the other value.
    public enum Goal: Sendable {
        /// At most that many times the other.
        case atMost(Double)
        /// At least that many times faster than the other.
        case faster(Double)
        /// At least that many times the other.
        case atLeast(Double)
    }

    public enum Unit: String, Sendable {
        case nanoseconds = "ns"
        case microseconds = "µs"
        case milliseconds = "ms"

        public var nanoseconds: Double {
            switch self {
            case .nanoseconds: 1
            case .microseconds: 1e3
            case .milliseconds: 1e6
            }
        }
    }

    public let name: String
    public let value: Double
    public let unit: String
    /// The name of the comparison, which is measured in the same run. Nil for a plain limit.
    public let against: String?
    /// The value of the other, in the same unit.
    public let yardstick: Double?
    /// `value` as a share of `yardstick`, or for `Goal.faster` the reverse.
    public let ratio: Double?
    public let goal: String
    public let met: Bool

    /// A value beside another one.
    public init(_ name: String, _ comparison: Comparison, unit: String, against: String, _ goal: Goal) {
        self.name = name
        self.unit = unit
        self.against = against
        value = comparison.value
        yardstick = comparison.yardstick
        switch goal {
        case .atMost(let most):
            ratio = comparison.ratio
            met = comparison.ratio <= most
            self.goal = "≤ \(Row.number(most))×"
        case .atLeast(let least):
            ratio = comparison.ratio
            met = comparison.ratio >= least
            self.goal = "≥ \(Row.number(least))×"
        case .faster(let least):
            ratio = 1 / comparison.ratio
            met = 1 / comparison.ratio >= least
            self.goal = "≥ \(Row.number(least))× faster"
        }
    }

    /// Times beside others, which were measured in nanoseconds.
    public init(_ name: String, _ comparison: Comparison, unit: Unit, against: String, _ goal: Goal) {
        self.init(
            name, comparison.scaled(by: 1 / unit.nanoseconds), unit: unit.rawValue, against: against, goal)
    }

    /// A value that has to stay under a limit: bytes or a count, but no time, which depends on the machine.
    public init(_ name: String, _ value: Double, unit: String, atMost limit: Double) {
        self.name = name
        self.value = value
        self.unit = unit
        against = nil
        yardstick = nil
        ratio = nil
        goal = "≤ \(Row.number(limit))\(unit.isEmpty ? "" : " \(unit)")"
        met = value <= limit
    }

    /// Two digits that count, three for what is longer.
    public static func number(_ value: Double) -> String {
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
        let text = String(format: "%.\(digits)f", value)
        return text.hasSuffix(".00") ? String(text.dropLast(3)) : text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
