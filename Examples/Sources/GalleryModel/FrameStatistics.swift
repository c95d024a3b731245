/// How frames came: one after the other, as they were asked for.
public struct FrameStatistics: Sendable {
    /// Microseconds from one wake-up to the next above which the second one is late.
    public static let lateAfter: Int = 25_000

    /// Frames, but for the first, which has none before it.
    public private(set) var count = 0
    /// Those of them that were late.
    public private(set) var late = 0
    /// Those for which the program itself had too much to do: it computed for longer than that. The others were late
    /// because the machine had something else to do.
    public private(set) var lateByOwnWork = 0
    /// Microseconds that each frame took.
    public private(set) var painting: [Int] = []
    private var last: (began: Int, computed: Int)?

    public init() {}

    /// Another frame, in microseconds of any clock; `computed` is how long the program had computed when it began.
    public mutating func add(began: Int, ended: Int, computed: Int) {
        if let last {
            count += 1
            if began - last.began > Self.lateAfter { late += 1 }
            if computed - last.computed > Self.lateAfter { lateByOwnWork += 1 }
        }
        last = (began, computed)
        painting.append(max(0, ended - began))
    }

    /// The next frame follows none: between them none was asked for.
    public mutating func pause() {
        last = nil
    }

    /// Milliseconds that no more than that share of the frames took longer than: 0.5 for the median.
    public func painting(percentile: Double) -> Double {
        guard !painting.isEmpty else { return 0 }
        let index = Int((Double(painting.count) * percentile).rounded(.up)) - 1
        return Double(painting.sorted()[min(max(index, 0), painting.count - 1)]) / 1_000
    }
}
