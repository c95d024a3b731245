/// How frames came: one after the other, as they were asked for.
public struct FrameStatistics: Sendable, Equatable {
    /// Microseconds from one wake-up to the next above which the second one is late.
    public static let lateAfter: Int = 25_000

    /// Frames, but for the first, which has none before it.
    public private(set) var count = 0
    /// Those of them that were late.
    public private(set) var late = 0
    /// Microseconds that each frame took.
    public private(set) var painting: [Int] = []
    private var lastBegan: Int?

    public init() {}

    /// Another frame, in microseconds of any clock.
    public mutating func add(began: Int, ended: Int) {
        if let lastBegan {
            count += 1
            if began - lastBegan > Self.lateAfter { late += 1 }
        }
        lastBegan = began
        painting.append(max(0, ended - began))
    }

    /// The next frame follows none: between them none was asked for.
    public mutating func pause() {
        lastBegan = nil
    }

    /// The share of late frames, from 0 to 1.
    public var lateShare: Double { count == 0 ? 0 : Double(late) / Double(count) }

    /// Milliseconds that no more than that share of the frames took longer than: 0.5 for the median.
    public func painting(percentile: Double) -> Double {
        guard !painting.isEmpty else { return 0 }
        let index = Int((Double(painting.count) * percentile).rounded(.up)) - 1
        return Double(painting.sorted()[min(max(index, 0), painting.count - 1)]) / 1_000
    }
}
