/// How much of what was prefetched was used, since the synchronizer was created.
public struct PrefetchStatistics: Hashable, Sendable {
    /// Resources loaded by a prefetch.
    public var loaded = 0
    /// Prefetched resources that a load used later.
    public var used = 0
    /// Prefetched resources that no load had used when their prefetch was cancelled, or after a thousand more prefetches.
    public var wasted = 0
    /// Bytes of all prefetched bodies.
    public var bytes = 0
    /// Bytes of the wasted ones among them.
    public var wastedBytes = 0
}
