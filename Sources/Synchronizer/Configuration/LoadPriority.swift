/// How urgent a load is. Within a priority the newest load comes first, unless the configuration says otherwise.
public enum LoadPriority: Int, Sendable, Comparable, CaseIterable {
    /// Work that may wait for everything else.
    case veryLow
    /// Prefetching. Loads of this priority and below give way to visible ones.
    case low
    /// What a user looks at; the default.
    case normal
    /// More urgent than the rest of what is visible.
    case high
    /// Before everything else.
    case veryHigh

    /// Compares by urgency.
    public static func < (one: LoadPriority, other: LoadPriority) -> Bool { one.rawValue < other.rawValue }

    /// Whether somebody is taken to be waiting for it, and speculative loads have to give way.
    var isVisible: Bool { self >= .normal }
}
