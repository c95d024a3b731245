/// Statistics of consecutive frames.
public struct FrameStatistics: Sendable {
    /// A frame is late if it starts more than this many microseconds after the one before.
    public static let lateAfter: Int = 25_000

    /// The number of frames, except the first, which has no predecessor.
    public private(set) var count = 0
    /// The number of late frames.
    public private(set) var late = 0
    /// The number of late frames before which the program itself computed for longer than the limit. The others were late
    /// because the machine was busy.
    public private(set) var lateByOwnWork = 0
    /// The duration of each frame, in microseconds.
    public private(set) var painting: [Int] = []
    private var last: (began: Int, computed: Int)?

    public init() {}

    /// Adds a frame, in microseconds of any clock; `computed` is the CPU time of the program at its start.
    public mutating func add(began: Int, ended: Int, computed: Int) {
        if let last {
            count += 1
            if began - last.began > Self.lateAfter { late += 1 }
            if computed - last.computed > Self.lateAfter { lateByOwnWork += 1 }
        }
        last = (began, computed)
        painting.append(max(0, ended - began))
    }

    /// Interrupts the sequence: the next frame has no predecessor.
    public mutating func pause() {
        last = nil
    }

    /// The quantile of the durations in milliseconds: 0.5 is the median.
    public func painting(percentile: Double) -> Double {
        guard !painting.isEmpty else { return 0 }
        let index = Int((Double(painting.count) * percentile).rounded(.up)) - 1
        return Double(painting.sorted()[min(max(index, 0), painting.count - 1)]) / 1_000
    }
}
