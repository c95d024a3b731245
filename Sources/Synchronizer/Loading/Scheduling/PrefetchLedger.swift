/// What prefetching has brought so far: how much of it was used. A pure value.
///
/// Each prefetched resource is *used* when somebody asks for it, or *wasted* when its prefetch is cancelled before that,
/// or when so many others have been prefetched since that it is taken to be forgotten. The window,
/// which is how many prefetches run at the same time, is halved when most of the last ones were wasted, and grows by
/// one with each that was used.
struct PrefetchLedger: Sendable {
    static let largestWindow = 16
    private static let initialWindow = 8
    private static let remembered = 1_000
    private static let sample = 16

    private struct Prefetched {
        let bytes: Int
        let group: Int
    }

    private(set) var window = initialWindow
    private(set) var statistics = PrefetchStatistics()
    /// What nobody has asked for yet.
    private var outstanding = LRUList<RequestIdentity, Prefetched>()
    /// The last verdicts, newest last: whether it was used.
    private var verdicts: [Bool] = []

    /// A prefetch has brought this many bytes, from the network or not, as one of a group that is cancelled together.
    mutating func loaded(_ identity: RequestIdentity, bytes: Int, group: Int = 0) {
        statistics.loaded += 1
        statistics.bytes += bytes
        outstanding.insert(Prefetched(bytes: bytes, group: group), for: identity)
        if outstanding.count > Self.remembered, let forgotten = outstanding.leastRecentlyUsed {
            judge(forgotten, wasUsed: false)
        }
    }

    /// Somebody asks for it.
    mutating func asked(for identity: RequestIdentity) {
        judge(identity, wasUsed: true)
    }

    /// The group was cancelled: what it has loaded, and nobody has asked for, was not needed.
    mutating func cancelled(group: Int) {
        for identity in outstanding.allKeys where outstanding[identity]?.group == group { cancelled(identity) }
    }

    mutating func cancelled(_ identity: RequestIdentity) {
        judge(identity, wasUsed: false)
    }

    private mutating func judge(_ identity: RequestIdentity, wasUsed: Bool) {
        guard let bytes = outstanding.remove(identity)?.bytes else { return }
        if wasUsed {
            statistics.used += 1
        } else {
            statistics.wasted += 1
            statistics.wastedBytes += bytes
        }
        verdicts.append(wasUsed)
        window = min(window + (wasUsed ? 1 : 0), Self.largestWindow)
        if verdicts.count >= Self.sample {
            if verdicts.filter({ !$0 }).count * 2 > verdicts.count { window = max(1, window / 2) }
            verdicts = []
        }
    }
}

/// What prefetching has brought so far, since the synchronizer was made.
public struct PrefetchStatistics: Hashable, Sendable {
    /// Resources that a prefetch has loaded.
    public var loaded = 0
    /// Those of them that somebody asked for later.
    public var used = 0
    /// Those that nobody had asked for when their prefetch was cancelled, or a thousand others had been prefetched.
    public var wasted = 0
    /// Bytes of body that were loaded.
    public var bytes = 0
    /// Bytes of the wasted ones.
    public var wastedBytes = 0
}
