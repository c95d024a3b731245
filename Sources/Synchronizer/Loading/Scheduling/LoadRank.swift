/// The order of waiting loads: higher priority first, then higher sequence number.
///
/// Both are packed into one integer, with 56 bits for the sequence number, because each waiting load has a rank.
struct LoadRank: Comparable, Hashable, Sendable {
    private let value: Int64
    private static let sequences: Int64 = 1 << 56

    /// - Parameter sequence: a number that grows with each subscription, so the newest comes first; negated for oldest first.
    init(priority: LoadPriority, sequence: Int64) {
        value = Int64(priority.rawValue) * Self.sequences + sequence
    }

    init(_ priority: LoadPriority?, sequence: Int64, newestFirst: Bool) {
        self.init(priority: priority ?? .veryLow, sequence: newestFirst ? sequence : -sequence)
    }

    static func < (one: LoadRank, other: LoadRank) -> Bool { one.value < other.value }

    var priority: LoadPriority {
        LoadPriority(rawValue: Int((value + Self.sequences / 2) >> 56)) ?? .veryLow
    }
}

/// The number of subscribers of each priority; the highest priority counts.
struct PriorityCounts: Hashable, Sendable {
    private var veryLow: UInt32 = 0
    private var low: UInt32 = 0
    private var normal: UInt32 = 0
    private var high: UInt32 = 0
    private var veryHigh: UInt32 = 0

    var highest: LoadPriority? {
        if veryHigh > 0 { return .veryHigh }
        if high > 0 { return .high }
        if normal > 0 { return .normal }
        if low > 0 { return .low }
        return veryLow > 0 ? .veryLow : nil
    }

    mutating func add(_ priority: LoadPriority) { self[priority] += 1 }
    mutating func remove(_ priority: LoadPriority) { self[priority] -= 1 }

    /// Removes the subscribers of a parse from those of its download.
    mutating func remove(_ others: PriorityCounts) {
        veryLow -= others.veryLow
        low -= others.low
        normal -= others.normal
        high -= others.high
        veryHigh -= others.veryHigh
    }

    mutating func replace(_ old: LoadPriority, by new: LoadPriority) {
        remove(old)
        add(new)
    }

    private subscript(priority: LoadPriority) -> UInt32 {
        get {
            switch priority {
            case .veryLow: veryLow
            case .low: low
            case .normal: normal
            case .high: high
            case .veryHigh: veryHigh
            }
        }
        set {
            switch priority {
            case .veryLow: veryLow = newValue
            case .low: low = newValue
            case .normal: normal = newValue
            case .high: high = newValue
            case .veryHigh: veryHigh = newValue
            }
        }
    }
}
