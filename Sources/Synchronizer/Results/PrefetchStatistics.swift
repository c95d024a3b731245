/// How many prefetched resources were used and wasted since the synchronizer was created.
public struct PrefetchStatistics: Hashable, Sendable {
    /// Resources loaded by a prefetch.
    public var loaded = 0
    /// Prefetched resources that a load used later.
    public var used = 0
    /// Prefetched resources that no load used before their prefetch was cancelled, or before a thousand more prefetches.
    public var wasted = 0
    /// Bytes of all prefetched bodies.
    public var bytes = 0
    /// Bytes of the bodies of wasted resources.
    public var wastedBytes = 0
}
