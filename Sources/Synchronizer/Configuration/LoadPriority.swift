/// The urgency of a load. Within a priority the newest load comes first, unless the configuration says otherwise.
public enum LoadPriority: Int, Sendable, Comparable, CaseIterable {
    /// For work that can wait for everything else.
    case veryLow
    /// For prefetching. Loads with this priority and below give way to visible ones.
    case low
    /// For what is on screen; the default.
    case normal
    /// More urgent than other visible loads.
    case high
    /// More urgent than everything else.
    case veryHigh

    /// Compares by urgency.
    public static func < (one: LoadPriority, other: LoadPriority) -> Bool { one.rawValue < other.rawValue }

    /// Whether a user probably waits for it, so that speculative loads give way.
    var isVisible: Bool { self >= .normal }
}
