/// Two things measured in turns, so that what else the machine does falls on both.
public struct Comparison: Sendable {
    /// Medians of the rounds, in nanoseconds for one operation unless a row says otherwise.
    public let value: Double
    public let yardstick: Double
    /// The median of the rounds' own ratios.
    public let ratio: Double

    private init(value: Double, yardstick: Double, ratio: Double) {
        self.value = value
        self.yardstick = yardstick
        self.ratio = ratio
    }

    /// - Parameters:
    ///   - ours, theirs: do it, and return nanoseconds for one operation.
    public init(rounds: Int = 7, _ ours: () throws -> Double, against theirs: () throws -> Double) throws {
        var values: [Double] = []
        var yardsticks: [Double] = []
        _ = try (ours(), theirs())  // warms up
        for round in 0..<rounds {
            // The second one may find other processor caches. So the order alternates, too.
            if round % 2 == 0 {
                values.append(try ours())
                yardsticks.append(try theirs())
            } else {
                yardsticks.append(try theirs())
                values.append(try ours())
            }
        }
        self.init(ofRounds: values, yardsticks)
    }

    /// Of rounds that were measured already; the first has warmed up and does not count.
    public init(_ values: [Double], _ yardsticks: [Double]) {
        self.init(ofRounds: Array(values.dropFirst()), Array(yardsticks.dropFirst()))
    }

    private init(ofRounds values: [Double], _ yardsticks: [Double]) {
        self.init(
            value: median(values), yardstick: median(yardsticks), ratio: median(zip(values, yardsticks).map { $0 / $1 })
        )
    }

    public func scaled(by factor: Double) -> Comparison {
        Comparison(value: value * factor, yardstick: yardstick * factor, ratio: ratio)
    }
}
