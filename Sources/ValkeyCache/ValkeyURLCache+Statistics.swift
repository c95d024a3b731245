#if Valkey && canImport(CHiredis)
    import Foundation
    import SQLiteCache

    extension ValkeyURLCache {
        /// How the levels of a cache have been used since its creation.
        public struct Statistics: Hashable, Sendable {
            /// Lookups that the local level answered.
            public var localHits = 0
            /// Lookups that the server answered.
            public var sharedHits = 0
            /// Lookups that found nothing.
            public var misses = 0
            /// Calls to the server that failed, or were not answered in time.
            public var failures = 0
            /// Removals that other processes have announced.
            public var invalidations = 0
            /// Values of the server that were corrupt, and were removed.
            public var corruptEntriesDropped = 0
            /// Removals that have not reached the server yet.
            public var pendingRemovals = 0
            /// Whether the server announces changes now. While it does not, each lookup asks the server.
            public var isConnected = false
            /// Whether calls skip the server for now, because it has failed.
            public var isPausing = false
        }

        /// How the levels have been used. Getting the statistics neither reads from a disk nor asks the server.
        public var statistics: Statistics {
            guard !ForkedProcess.isCurrent else { return Statistics() }
            let counts = level.counts.withLock { $0 }
            let (pending, isConnected) = level.coherence.withLock { coherence in
                (coherence.pending.tokens.count + (coherence.pending.sweep == nil ? 0 : 1), coherence.isConnected)
            }
            return Statistics(
                localHits: counts.localHits, sharedHits: counts.sharedHits, misses: counts.misses,
                failures: level.server.failures, invalidations: counts.invalidations,
                corruptEntriesDropped: counts.corrupt, pendingRemovals: pending, isConnected: isConnected,
                isPausing: level.server.isPausing)
        }
    }
#endif
