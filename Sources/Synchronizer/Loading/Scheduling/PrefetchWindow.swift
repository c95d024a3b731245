/// Counts the prefetched resources that are used, and limits the number of concurrent prefetches. A pure value.
///
/// A resource is prefetched when its prefetch has loaded it. It is *used* when a load wants it. It is *wasted* when its prefetch is
/// cancelled before that, or when a thousand others that no load wants have been prefetched since. The window (the limit) is halved
/// when most of the last prefetches were wasted, and grows by one with each prefetched resource that is used.
struct PrefetchWindow: Sendable {
    static let largest = 16
    private static let initial = 8
    private static let remembered = 1_000
    private static let sample = 16

    private struct Prefetched {
        let bytes: Int
        let group: Int
    }

    private(set) var size = initial
    private(set) var statistics = PrefetchStatistics()
    /// The prefetched resources that no load has used yet.
    private var outstanding = LRUList<CoalescingKey, Prefetched>()
    /// Whether each of the last prefetches was used; the newest is last.
    private var uses: [Bool] = []

    /// A prefetch loaded this many bytes, from the network or the cache. The prefetches of a group are cancelled together.
    /// A repeated prefetch of a resource that no load has used yet counts once.
    mutating func loaded(_ identity: CoalescingKey, bytes: Int, group: Int = 0) {
        if outstanding[identity] == nil {
            statistics.loaded += 1
            statistics.bytes += bytes
        }
        outstanding.insert(Prefetched(bytes: bytes, group: group), for: identity)
        if outstanding.count > Self.remembered, let forgotten = outstanding.leastRecentlyUsed {
            settle(forgotten, wasUsed: false)
        }
    }

    /// A load uses the resource.
    mutating func noteUse(of identity: CoalescingKey) {
        settle(identity, wasUsed: true)
    }

    /// The group was cancelled: the resources that it loaded and no load has used are wasted.
    mutating func cancelled(group: Int) {
        for identity in outstanding.allKeys where outstanding[identity]?.group == group { cancelled(identity) }
    }

    mutating func cancelled(_ identity: CoalescingKey) {
        settle(identity, wasUsed: false)
    }

    private mutating func settle(_ identity: CoalescingKey, wasUsed: Bool) {
        guard let bytes = outstanding.remove(identity)?.bytes else { return }
        if wasUsed {
            statistics.used += 1
        } else {
            statistics.wasted += 1
            statistics.wastedBytes += bytes
        }
        uses.append(wasUsed)
        size = min(size + (wasUsed ? 1 : 0), Self.largest)
        if uses.count >= Self.sample {
            if uses.filter({ !$0 }).count * 2 > uses.count { size = max(1, size / 2) }
            uses = []
        }
    }
}
