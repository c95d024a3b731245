/// What comes first among things that wait: the higher priority, and within a priority the later turn.
struct LoadRank: Comparable, Hashable, Sendable {
    var priority: LoadPriority
    /// Grows with each load that asks: newest first. Negated where the order of asking counts.
    var turn: Int

    static func < (one: LoadRank, other: LoadRank) -> Bool {
        one.priority == other.priority ? one.turn < other.turn : one.priority < other.priority
    }
}

/// How many subscribers there are of each priority; the highest is what counts.
struct PriorityCounts: Hashable, Sendable {
    private var counts = SIMD8<Int32>()

    var highest: LoadPriority? {
        LoadPriority.allCases.last { counts[$0.rawValue] > 0 }
    }

    mutating func add(_ priority: LoadPriority) { counts[priority.rawValue] += 1 }
    mutating func remove(_ priority: LoadPriority) { counts[priority.rawValue] -= 1 }
}
