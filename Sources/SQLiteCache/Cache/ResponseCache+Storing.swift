import Foundation
import HTTPCaching
import SynchronizerSupport

extension ResponseCache {
    /// Stores a response; returns the identifier of its entry.
    ///
    /// - Parameters:
    ///   - keepsObject: whether lookups in memory may return `cached` itself. They must not if `record` has other fields.
    ///   - fence: set if the response must not replace one that was requested later.
    @discardableResult
    func store(
        _ record: StoredRecord, cached: CachedURLResponse, keepsObject: Bool, fence: LateResponseFence? = nil
    ) -> Int64 {
        store(
            record, body: cached.data, cached: keepsObject ? cached : nil,
            isMemoryOnly: cached.storagePolicy == .allowedInMemoryOnly, fence: fence)
    }

    /// Stores a response with this body; returns the new identifier of its entry.
    @discardableResult
    func store(
        _ record: StoredRecord, body: Data, cached: CachedURLResponse? = nil, isMemoryOnly: Bool = false,
        fence: LateResponseFence? = nil
    ) -> Int64 {
        let (url, id) = (record.response.url, MonotonicID.next())
        change(
            .store(
                StoredRow(
                    id: id, url: url, urlKey: Checksum64.of(url), revision: id, stored: time.now.milliseconds,
                    record: EncodedRecord(record), variant: record.response.variantKey, bodySize: body.count,
                    body: body, cached: cached, isMemoryOnly: isMemoryOnly, fence: fence)))
        return id
    }

    /// Why a body of this size would not be kept; nil if it would be. The latest write tells whether the disk fails.
    func refusal(toStore bytes: Int, isMemoryOnly: Bool) -> StoreRefusal? {
        guard !ForkedProcess.isCurrent else { return .diskFailed }
        return state.withLock { state in
            if state.storesFail || state.disk.hasFailed { return .diskFailed }
            let largestOnDisk = isMemoryOnly ? 0 : DiskBudget(capacity: state.diskCapacity).largestBody
            return bytes > largestOnDisk && bytes > state.memory.capacity ? .tooLarge : nil
        }
    }

    /// Replaces everything but the body of a response, if it is still stored.
    func update(_ id: Int64, url: String, to response: StoredResponse, fence: LateResponseFence? = nil) {
        guard response.url == url, let row = rows(of: url).first(where: { $0.id == id }),
            var record = row.record.decoded
        else { return }
        record.response = response
        change(
            .update(
                RowUpdate(
                    id: id, url: url, urlKey: row.urlKey, record: EncodedRecord(record), variant: response.variantKey,
                    revision: MonotonicID.next(), stored: time.now.milliseconds, isMemoryOnly: row.isMemoryOnly,
                    fence: fence)))
    }

    /// The bytes that the files take on the disk, plus the bytes of pending bodies.
    var diskUsage: Int {
        guard !ForkedProcess.isCurrent else { return 0 }
        let pending = state.withLock { $0.log.bodyBytes }
        let files = (readDisk { try $0.bodyFileBytes() } ?? 0) + LeaseFile.allocatedBytes(in: directory)
        let generation = try? Generation.newest(in: directory)
        let database = (generation?.allocatedBytes ?? 0) + (generation?.partials.bytes ?? 0)
        return Int(clamping: files + database) + pending
    }
}

extension ResponseCache: WriteSource {
    var now: Date { time.now }

    var pendingEnd: Int { state.withLock { $0.log.end } }

    func nextBatch(_ budget: DiskBudget) -> (changes: [Change], end: Int) {
        let batch = state.withLock { state in
            let batch = state.log.batch(maximumCount: budget.batchCount, maximumBytes: budget.batchBytes)
            if batch.changes.isEmpty { state.isWriting = false }
            return batch
        }
        noteRemovals(batch.changes)
        return batch
    }

    /// Notes removals for the other processes, before the transaction that removes the entries. So either the transaction finds a
    /// late response of another process in the database, or the store of this response sees the mark.
    private func noteRemovals(_ changes: [Change]) {
        for change in changes {
            switch change {
            case .removeURL(_, let urlKey): leases.noteRemoval(of: urlKey, at: time.now)
            case .removeAll, .removeSince: leases.noteRemoval(of: nil, at: time.now)
            default: break
            }
        }
    }

    func didWrite(before end: Int) {
        state.withLock { state in
            if state.log.removeChanges(before: end) { state.storesFail = false }
            state.disk = .working
            if state.hasRefused { state.forgetRefused() }
        }
    }

    func didEvict(_ count: Int) {
        state.withLock { $0.counts.evictions += count }
    }

    func didRefuse() {
        state.withLock { $0.hasRefused = true }
    }

    func takeUsageTimes() -> [Int64: Int64] {
        state.withLock { state in
            defer { state.usageTimes = [:] }
            return state.usageTimes
        }
    }

    func putBack(usageTimes: [Int64: Int64]) {
        state.withLock { $0.usageTimes.merge(usageTimes, uniquingKeysWith: max) }
    }

    func didRemoveDatabase() {
        state.withLock { $0.keepAllOffDisk() }
    }

    func abandonStores() {
        state.withLock { state in
            state.abandonStores()
            state.storesFail = true
        }
    }

    func diskFailed() -> Bool {
        state.withLock { state in
            state.abandonStores()
            state.disk = .failed(time.now)
            state.isWriting = false
            state.limitLog()
            return state.log.hasRemovals
        }
    }

    func diskIsBusy() {
        state.withLock { state in
            state.disk = .busy(time.now)
            state.isWriting = false
            state.limitLog()
        }
    }
}

extension ResponseCache.DiskState {
    var hasFailed: Bool {
        if case .failed = self { true } else { false }
    }

    mutating func recover(at now: Date) {
        switch self {
        case .working: return
        case .failed(let since), .busy(let since):
            if abs(now.timeIntervalSince(since)) >= DiskRecovery.retryInterval { self = .working }
        }
    }
}
