import Foundation

extension ResponseCache: WriteSource {
    func nextBatch(_ budget: DiskBudget) -> (changes: [Change], end: Int) {
        state.withLock { state in
            let batch = state.log.batch(maximumCount: budget.batchCount, maximumBytes: budget.batchBytes)
            if batch.changes.isEmpty { state.isWriting = false }
            return batch
        }
    }

    func didWrite(before end: Int) {
        state.withLock { state in
            state.log.removeChanges(before: end)
            state.disk = .works
        }
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
        state.withLock { $0.keepWithoutDisk() }
    }

    func giveBack(used: [Int64: Int64]) {
        state.withLock { $0.used.merge(used, uniquingKeysWith: max) }
    }

    func giveUpStores() {
        state.withLock { $0.giveUpStores() }
    }

    /// For two seconds new responses are kept in memory only, and removals wait.
    func giveUpDisk() -> Bool {
        state.withLock { state in
            state.giveUpStores()
            state.disk = .failed(time.now)
            state.isWriting = false
            return state.log.hasRemovals
        }
    }

    func pauseDisk() {
        state.withLock { state in
            state.disk = .busy(time.now)
            state.isWriting = false
            if state.log.cost > ResponseCache.largestBacklog { state.giveUpStores() }
        }
    }
}

extension ResponseCache.State {
    // What a look-up has read before does not get into memory after these: it does not know what is on no disk.

    mutating func giveUpStores() {
        changes.count(nil)
        memory.keepWithoutDisk(log.giveUpStores())
    }

    mutating func keepWithoutDisk() {
        changes.count(nil)
        memory.keepWithoutDisk()
    }
}
