import Foundation
import SynchronizerSupport

extension SQLiteURLCache {
    /// The contents of a cache, and its hits and misses.
    public struct Statistics: Hashable, Sendable {
        /// The number of responses on the disk, of parsed objects that are stored next to them, and of responses that only memory
        /// has.
        public var entries = 0
        /// The bytes that the files take on the disk, like `currentDiskUsage`.
        public var bytes = 0
        /// Lookups that found a response. This number and the following ones count since this process opened the cache.
        public var hits = 0
        /// Lookups that found no response.
        public var misses = 0
        /// Responses that were evicted from the disk.
        public var evictions = 0
        /// Responses that were corrupt, and were removed.
        public var corruptEntriesDropped = 0
    }

    /// The contents of the cache, and its hits and misses. Reading this property flushes the cache and reads from the disk:
    /// counting a million entries takes some ten milliseconds.
    public var statistics: Statistics {
        guard !ForkedProcess.isCurrent else { return Statistics() }
        cache.flush()
        let (counts, corrupt, inMemory) = cache.state.withLock { state in
            (state.counts, state.corrupt.count, state.memory.memoryOnlyRows.count)
        }
        let stored = cache.readDisk { try $0.entryCount() } ?? 0
        return Statistics(
            entries: stored + inMemory, bytes: currentDiskUsage, hits: counts.hits, misses: counts.misses,
            evictions: counts.evictions, corruptEntriesDropped: corrupt)
    }
}
