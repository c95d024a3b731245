import Foundation

extension SQLiteURLCache {
    /// What a cache holds, and how it has done so far.
    public struct Statistics: Hashable, Sendable {
        /// Responses in the database, and those that only memory has.
        public var entries = 0
        /// The bytes that the files take on the disk, as `currentDiskUsage` tells.
        public var bytes = 0
        /// Look-ups that found a response, in this process since the cache was opened; the same holds for what follows.
        public var hits = 0
        /// Look-ups that found none.
        public var misses = 0
        /// Responses that were removed from the disk to make room.
        public var evictions = 0
        /// Responses that were found damaged, and removed.
        public var corruptEntriesDropped = 0
    }

    /// What the cache holds, and how it has done so far. It writes what waits, and reads from the disk: counting a
    /// million entries takes some ten milliseconds.
    public var statistics: Statistics {
        guard !Fork.isChild else { return Statistics() }
        cache.flush()
        let (counts, dropped, inMemory) = cache.state.withLock { state in
            (state.counts, state.dropped.count, state.memory.memoryOnlyCount)
        }
        let stored = cache.readDisk { try $0.entryCount() } ?? 0
        return Statistics(
            entries: stored + inMemory, bytes: currentDiskUsage, hits: counts.hits, misses: counts.misses,
            evictions: counts.evictions, corruptEntriesDropped: dropped)
    }
}
