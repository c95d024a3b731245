import Foundation
import SynchronizerSupport

/// The responses of one directory: a lookup asks memory, then the pending changes, then the database.
///
/// A change takes effect in memory at once; the writer writes it to the disk in the background. All instances of
/// `SQLiteURLCache` in a process that have a disk capacity and use the same directory share one `ResponseCache`.
final class ResponseCache: Sendable {
    struct State {
        var memory: MemoryLayer
        var log = ChangeLog()
        var diskCapacity: Int
        var disk = DiskState.working
        var isWriting = false
        /// When responses were last used, by identifier, in milliseconds since 1970, where the database does not know it yet.
        var usageTimes: [Int64: Int64] = [:]
        /// When the first of `usageTimes` was noted; nil if the writer has been asked to write them.
        var usageTimesBegan: Date?
        /// When the database was last asked for changes by other processes. A failed read counts as a change.
        var verifiedAt = Date.distantPast
        /// The generation at that moment; nil if this process may be replacing it.
        var generation: Generation?
        var changes = ChangeCounts()
        var counts = Counts()
        var corrupt = CorruptEntries()
        /// Whether the latest attempt to write a store failed, as on a full disk.
        var storesFail = false
        /// Whether the batch that is being written has a change that the writer has refused, although memory has applied it.
        var hasRefused = false
    }

    /// The entries that were found corrupt. Lookups find them again until the database has removed them.
    struct CorruptEntries {
        private(set) var count = 0
        private var recent: Set<Int64> = []

        /// Returns whether the entry was not known to be corrupt.
        mutating func insert(_ id: Int64) -> Bool {
            if recent.count == 4096 { recent = [] }
            guard recent.insert(id).inserted else { return false }
            count += 1
            return true
        }
    }

    enum DiskState {
        case working
        /// A write failed at that moment. New responses stay in memory for a while.
        case failed(Date)
        /// Another process held the lock at that moment. Changes stay pending for a while.
        case busy(Date)
    }

    struct Counts {
        var hits = 0
        var misses = 0
        var evictions = 0
    }

    let directory: CacheDirectory
    let time: any TimeSource
    let state: Locked<State>
    let reader: DiskReader
    let writer: DiskWriter
    let leases: LeaseFile
    let invalidations = InvalidationLog()

    /// How many bytes of changes may be pending before a store waits for the disk.
    static let maximumBacklog = 32 << 20
    private let maximumUsageTimes = 1 << 14
    /// Seconds after which the usage times are written.
    private let usageTimesInterval: TimeInterval = 60

    init(
        memoryCapacity: Int, diskCapacity: Int, directory: URL, time: any TimeSource,
        busyTimeout: BusyTimeout = BusyTimeout(seconds: 2),
        retryInterval: TimeInterval = DiskRecovery.retryInterval, report: @escaping @Sendable (String) -> Void
    ) {
        self.directory = CacheDirectory(directory)
        self.time = time
        state = Locked(
            State(memory: MemoryLayer(capacity: max(0, memoryCapacity)), diskCapacity: max(0, diskCapacity)))
        reader = DiskReader(directory: self.directory, busyTimeout: busyTimeout)
        leases = LeaseFile(directory: self.directory)
        writer = DiskWriter(
            directory: self.directory, report: report, didOpen: reader.close, retryInterval: retryInterval)
    }

    deinit {
        if ForkedProcess.isCurrent {
            // A forked process must not close its parent's connections, and another thread may have held the locks.
            for object in [reader, writer, leases] as [AnyObject] { _ = Unmanaged.passRetained(object) }
            return
        }
        // Closing a database may write to it, which must not block the thread that releases the cache.
        DispatchQueue.global(qos: .utility).async { [reader, writer] in withExtendedLifetime((reader, writer)) {} }
    }

    func readDisk<Answer>(_ body: (ReadConnection) throws -> Answer) -> Answer? {
        switch reader.read(body) {
        case .answer(let answer): return answer
        case .unavailable: return nil
        case .unusable(let generation, let reason):
            writer.replaceUnusable(generation, reason: reason)
            return nil
        }
    }

    /// Keeps in memory the body of a response that memory knows, and the object that was made from it.
    func keep(body: Data, cached: CachedURLResponse?, for row: StoredRow) {
        state.withLock { $0.memory.keep(body: body, cached: cached, for: row) }
    }

    /// Counts a hit, and remembers the usage time for eviction.
    func markUsed(_ id: Int64) {
        noteUse(of: id, isHit: true)
    }

    /// Remembers the usage time for eviction.
    func noteUse(of id: Int64, isHit: Bool = false) {
        guard !ForkedProcess.isCurrent else { return }
        let now = time.now
        let isDue = state.withLock { state in
            if isHit { state.counts.hits += 1 }
            if state.usageTimes.isEmpty { state.usageTimesBegan = now }
            if state.usageTimes.count < maximumUsageTimes || state.usageTimes[id] != nil {
                state.usageTimes[id] = now.milliseconds
            }
            // The absolute value, because the clock may have been set back.
            guard let began = state.usageTimesBegan, abs(now.timeIntervalSince(began)) >= usageTimesInterval,
                state.diskCapacity > 0
            else { return false }
            state.usageTimesBegan = nil
            return true
        }
        if isDue { writer.flush(from: self) {} }
    }

    func countMiss() {
        guard !ForkedProcess.isCurrent else { return }
        state.withLock { $0.counts.misses += 1 }
    }

    // MARK: - Changing

    /// Notes that the entries of these URLs, or all entries (nil), are about to be removed.
    func invalidate(_ urls: [String]?) {
        guard !ForkedProcess.isCurrent else { return }
        if let urls { invalidations.note(urls, at: time.now) } else { invalidations.noteEverything(at: time.now) }
    }

    func change(_ change: Change) {
        guard !ForkedProcess.isCurrent else { return }
        let now = time.now
        switch state.withLock({ $0.apply(change, at: now) }) {
        case .no: break
        case .soon: writer.writeSoon(from: self)
        case .now: writer.write(from: self)
        case .beforeReturning: wait { writer.write(from: self, then: $0) }
        }
    }

    /// In bytes. Lowering it evicts. Setting it to 0 removes everything from the disk, which is then no longer used.
    var diskCapacity: Int {
        get { ForkedProcess.isCurrent ? 0 : state.withLock { $0.diskCapacity } }
        set {
            guard !ForkedProcess.isCurrent else { return }
            state.withLock { state in
                (state.diskCapacity, state.generation) = (max(0, newValue), nil)
                if newValue <= 0 { state.removeAllFromDisk() }
            }
            writer.flush(from: self) {}
        }
    }

    /// Removes and counts entries that failed their check.
    func dropCorrupt(_ ids: [Int64], urlKey: UInt64) {
        for id in ids {
            let isNew = state.withLock { $0.corrupt.insert(id) }
            if isNew { change(.remove(id: id, urlKey: urlKey)) }
        }
    }

    /// Flushes and closes the files. The next use opens them again.
    func close() {
        flush()
        wait { writer.close(then: $0) }
        reader.close()
    }

    /// Waits until the database has all changes made so far.
    func flush() {
        wait { writer.flush(from: self, then: $0) }
    }

    /// Waits for the writer, which itself waits at most some seconds for other processes.
    private func wait(_ body: (@escaping @Sendable () -> Void) -> Void) {
        guard !ForkedProcess.isCurrent else { return }
        let done = DispatchSemaphore(value: 0)
        body { done.signal() }
        done.wait()
    }
}

extension ResponseCache.State {
    /// Whether and when a change must make the writer write.
    enum Writing {
        case no, soon, now, beforeReturning
    }

    /// How many changes may be pending while the disk fails, and while another process holds the lock.
    private static let (longestLog, longestBusyLog) = (10_000, 100_000)

    /// Makes a change in memory, and adds it to the changes that wait for the disk.
    fileprivate mutating func apply(_ change: Change, at now: Date) -> Writing {
        disk.recover(at: now)
        let change = change.keptOffDisk(unless: diskCapacity > 0 && !disk.hasFailed, diskCapacity: diskCapacity)
        if change.isMemoryOnlyObject { return .no }
        changes.count(change.urlKey)
        if change.urlKey == nil { generation = nil }
        memory.apply(change)
        guard diskCapacity > 0 || change.isRemoval else { return .no }
        log.append(change.onDisk)
        guard case .working = disk else {
            limitLog()
            return change.isRemoval ? .soon : .no  // without removals, the writer does not try again by itself
        }
        defer { isWriting = true }
        return log.cost > ResponseCache.maximumBacklog ? .beforeReturning : isWriting ? .no : .now
    }

    /// Keeps the pending changes within their limits while the disk does not take them. First gives up the stores. Then drops the
    /// changes that are not removals: what they have replaced may come back. If there are still too many, the removal of
    /// everything replaces them.
    mutating func limitLog() {
        let limit = disk.hasFailed ? Self.longestLog : Self.longestBusyLog
        func isTooLong() -> Bool { log.count > limit || log.cost > ResponseCache.maximumBacklog }
        if isTooLong(), log.hasStores { abandonStores() }
        guard isTooLong() else { return }
        log.keepRemovals()
        guard log.count > limit / 2 else { return }
        removeAllFromDisk()
        log.keepRemovals()
    }

    // The next two methods count as a change of every URL: a lookup that has already read the disk must not populate memory after
    // them, because it does not know what only memory has.

    mutating func abandonStores() {
        changes.count(nil)
        memory.keepOffDisk(log.abandonStores())
    }

    mutating func keepAllOffDisk() {
        changes.count(nil)
        generation = nil
        memory.keepAllOffDisk()
    }

    /// Makes lookups ask the database again, because memory has a change that the writer has refused.
    mutating func forgetRefused() {
        hasRefused = false
        changes.count(nil)
        memory.invalidateAll()
    }

    /// Removes everything from the disk, and keeps what memory has.
    fileprivate mutating func removeAllFromDisk() {
        keepAllOffDisk()
        log.append(.removeAll)
    }
}

extension Change {
    /// The change, with a response that the disk does not take marked as memory-only.
    fileprivate func keptOffDisk(unless usesDisk: Bool, diskCapacity: Int) -> Change {
        guard case .store(var row) = self else { return self }
        let budget = DiskBudget(capacity: diskCapacity)
        if !usesDisk || !budget.accepts(row.record, bodySize: row.bodySize) { row.isMemoryOnly = true }
        return .store(row)
    }

    /// Whether it stores a derived object that the disk does not take.
    fileprivate var isMemoryOnlyObject: Bool {
        if case .store(let row) = self { row.isMemoryOnly && row.isDerived } else { false }
    }

    /// The change to make in the database. A memory-only response still replaces one that is on the disk.
    fileprivate var onDisk: Change {
        switch self {
        case .store(let row) where row.isMemoryOnly:
            .removeVariant(url: row.url, urlKey: row.urlKey, variant: row.variant)
        case .update(let update) where update.isMemoryOnly:
            .removeVariant(url: update.url, urlKey: update.urlKey, variant: update.variant)
        default: self
        }
    }
}
