import Foundation

extension ResponseCache: WriteSource {
    func nextBatch(_ budget: DiskBudget) -> (changes: [Change], end: Int) {
        state.withLock { state in
            let batch = state.log.batch(maximumCount: 256, maximumBytes: budget.batchBytes)
            if batch.changes.isEmpty { state.isWriting = false }
            return batch
        }
    }

    func didWrite(before end: Int) {
        state.withLock { $0.log.removeChanges(before: end) }
    }

    func didEvict(_ count: Int) {
        state.withLock { $0.counts.evictions += count }
    }

    func takeUsed() -> [Int64: Int64] {
        state.withLock { state in
            defer { state.used = [:] }
            return state.used
        }
    }

    func forgetDisk() {
        state.withLock { $0.memory.keepWithoutDisk() }
    }

    func giveBack(used: [Int64: Int64]) {
        state.withLock { $0.used.merge(used, uniquingKeysWith: max) }
    }

    func giveUpStores() {
        state.withLock { $0.memory.keepWithoutDisk($0.log.giveUpStores()) }
    }

    /// For a minute new responses are kept in memory only, and removals wait.
    func giveUpDisk() -> Bool {
        let until = time.now.addingTimeInterval(60)
        return state.withLock { state in
            state.memory.keepWithoutDisk(state.log.giveUpStores())
            state.diskIsOffUntil = until
            state.isWriting = false
            return state.log.hasRemovals
        }
    }
}
