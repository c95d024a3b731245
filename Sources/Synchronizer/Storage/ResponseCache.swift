import Foundation

/// The responses of one directory: memory over what waits to be written over the database.
///
/// A change takes effect at once, in memory; the writer brings it to the disk behind the caller's back. All instances
/// of `SQLiteURLCache` on one directory in a process share one of these.
final class ResponseCache: Sendable {
    struct State {
        var memory: MemoryLayer
        var log = ChangeLog()
        var diskCapacity: Int
        var disk = DiskState.works
        var isWriting = false
        /// When responses were last used, in milliseconds since 1970, where the database does not know yet.
        var used: [Int64: Int64] = [:]
        /// When `used` is to be written, if nothing else does it before.
        var writesUsedAt = Date.distantFuture
        /// When this last asked whether another process has changed the database.
        var lookedAt = Date.distantPast
        var changes = ChangeCounts()
        var counts = Counts()
        var dropped = Dropped()
    }

    /// The responses that were found damaged. Until they are out of the database they are found again and again.
    struct Dropped {
        private(set) var count = 0
        private var recent: Set<Int64> = []

        /// Whether it was not known before.
        mutating func insert(_ id: Int64) -> Bool {
            if recent.count == 4096 { recent = [] }
            guard recent.insert(id).inserted else { return false }
            count += 1
            return true
        }
    }

    enum DiskState {
        case works
        /// It could not be written at that moment: new responses stay in memory for a while.
        case failed(Date)
        /// Another process held the lock at that moment: what is new waits.
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
    private let reader: DiskReader
    private let writer: DiskWriter

    /// How many bytes may wait to be written before a store waits for the disk.
    static let largestBacklog = 32 << 20
    private let mostUsedTimes = 1 << 14
    /// How many removals are remembered while the disk can't be written, before all that is there counts as removed.
    private let mostWaitingRemovals = 10_000
    /// Seconds after which the times of use are written.
    private let usedInterval: TimeInterval = 60

    init(
        memoryCapacity: Int, diskCapacity: Int, directory: URL, time: any TimeSource,
        busyTimeout: BusyTimeout = BusyTimeout(seconds: 2), report: @escaping @Sendable (String) -> Void
    ) {
        self.directory = CacheDirectory(directory)
        self.time = time
        state = Locked(
            State(memory: MemoryLayer(capacity: max(0, memoryCapacity)), diskCapacity: max(0, diskCapacity)))
        reader = DiskReader(self.directory, busyTimeout: busyTimeout)
        writer = DiskWriter(self.directory, report: report)
    }

    deinit {
        // Closing a database may write to it, which is nothing for the thread that happens to let go of the cache.
        DispatchQueue.global(qos: .utility).async { [reader, writer] in withExtendedLifetime((reader, writer)) {} }
    }

    func readDisk<Answer>(_ body: (ReadConnection) throws -> Answer) -> Answer? {
        switch reader.read(body) {
        case .answer(let answer): return answer
        case .nothing: return nil
        case .broken(let generation, let reason):
            writer.replaceDamaged(generation, because: reason)
            return nil
        }
    }

    /// Keeps in memory what was read or made for a response that memory knows.
    func keep(_ body: Data, _ cached: CachedURLResponse?, for row: StoredRow) {
        state.withLock { $0.memory.keep(body, cached, for: row) }
    }

    /// Counts the use of a response, and remembers it for the eviction.
    func markUsed(_ id: Int64) {
        guard !Fork.isChild else { return }
        let now = time.now
        let isDue = state.withLock { state in
            state.counts.hits += 1
            if state.used.isEmpty { state.writesUsedAt = now.addingTimeInterval(usedInterval) }
            if state.used.count < mostUsedTimes || state.used[id] != nil { state.used[id] = now.milliseconds }
            guard now >= state.writesUsedAt, state.diskCapacity > 0 else { return false }
            state.writesUsedAt = .distantFuture
            return true
        }
        if isDue { writer.flush(from: self) {} }
    }

    func countMiss() {
        guard !Fork.isChild else { return }
        state.withLock { $0.counts.misses += 1 }
    }

    // MARK: - Changing

    func change(_ change: Change) {
        guard !Fork.isChild else { return }
        let now = time.now
        let (starts, isFull) = state.withLock { state in
            state.disk.recover(at: now)
            let change = change.keepingToMemory(
                unless: state.diskCapacity > 0 && !state.disk.hasFailed, state.diskCapacity)
            state.changes.count(change.urlKey)
            state.memory.apply(change)
            guard state.diskCapacity > 0 || change.isRemoval else { return (false, false) }
            state.log.append(change.onDisk)
            guard case .works = state.disk else {
                if state.log.cost > Self.largestBacklog { state.giveUpStores() }
                if state.log.count > mostWaitingRemovals, state.disk.hasFailed { state.removeAllFromDisk() }
                return (false, false)
            }
            defer { state.isWriting = true }
            return (!state.isWriting, state.log.cost > Self.largestBacklog)
        }
        if isFull {
            wait { writer.write(from: self, then: $0) }
        } else if starts {
            writer.write(from: self)
        }
    }

    /// In bytes. Less than is stored evicts; 0 empties the disk and leaves it alone.
    var diskCapacity: Int {
        get { Fork.isChild ? 0 : state.withLock { $0.diskCapacity } }
        set {
            guard !Fork.isChild else { return }
            state.withLock { state in
                state.diskCapacity = max(0, newValue)
                if newValue <= 0 { state.removeAllFromDisk() }
            }
            writer.flush(from: self) {}
        }
    }

    /// What fails its check is dropped, and the next store begins anew.
    func drop(_ ids: [Int64], _ urlKey: UInt64) {
        for id in ids {
            let isNew = state.withLock { $0.dropped.insert(id) }
            if isNew { change(.remove(id: id, urlKey: urlKey)) }
        }
    }

    /// Flushes, and lets go of the files; the next use opens them again.
    func close() {
        flush()
        wait { writer.close(then: $0) }
        reader.close()
    }

    /// Waits until all that was stored and removed before is in the database.
    func flush() {
        wait { writer.flush(from: self, then: $0) }
    }

    /// For up to two seconds, when the process ends.
    func flushForTheLastTime() {
        wait(timeout: .now() + 2) { writer.flush(from: self, isLast: true, then: $0) }
    }

    /// The writer waits for no other process for longer than some seconds.
    private func wait(timeout: DispatchTime = .distantFuture, _ body: (@escaping @Sendable () -> Void) -> Void) {
        guard !Fork.isChild else { return }
        let done = DispatchSemaphore(value: 0)
        body { done.signal() }
        _ = done.wait(timeout: timeout)
    }
}

extension ResponseCache.State {
    /// Has everything removed from the disk, and keeps what memory has.
    fileprivate mutating func removeAllFromDisk() {
        keepWithoutDisk()
        log.append(.removeAll)
    }
}

extension ResponseCache.DiskState {
    var hasFailed: Bool {
        if case .failed = self { true } else { false }
    }

    fileprivate mutating func recover(at now: Date) {
        switch self {
        case .works: return
        case .failed(let since), .busy(let since):
            if abs(now.timeIntervalSince(since)) >= DiskWriter.pause { self = .works }
        }
    }
}

extension Change {
    /// What has no place on the disk is marked as being nowhere else.
    fileprivate func keepingToMemory(unless usesDisk: Bool, _ diskCapacity: Int) -> Change {
        guard case .store(var row) = self else { return self }
        if !usesDisk || row.bodySize > DiskBudget(capacity: diskCapacity).largestBody { row.isMemoryOnly = true }
        return .store(row)
    }

    /// What the database is to do: a response that is kept off the disk still replaces one that is on it.
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
