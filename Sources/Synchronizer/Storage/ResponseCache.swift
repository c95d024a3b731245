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
    /// Seconds for which memory may not know what another process has stored or removed.
    fileprivate static let blindInterval: TimeInterval = 1

    init(
        memoryCapacity: Int, diskCapacity: Int, directory: URL, time: any TimeSource,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.directory = CacheDirectory(directory)
        self.time = time
        state = Locked(
            State(memory: MemoryLayer(capacity: max(0, memoryCapacity)), diskCapacity: max(0, diskCapacity)))
        reader = DiskReader(self.directory)
        writer = DiskWriter(self.directory, report: report)
    }

    deinit {
        // Closing a database may write to it, which is nothing for the thread that happens to let go of the cache.
        DispatchQueue.global(qos: .utility).async { [reader, writer] in withExtendedLifetime((reader, writer)) {} }
    }

    // MARK: - Looking up

    /// All that is stored for a URL, newest first. The first that is wanted has its body, unless that is gone; what is
    /// older than that may be left out if nobody asks for it.
    func rows(of url: String, wanting: ((StoredRow) -> Bool)? = nil, withOlder: Bool = false) -> [StoredRow] {
        guard !Fork.isChild else { return [] }
        let urlKey = Digest.of(url)
        let (complete, before) = glance(at: url, urlKey)
        if let complete { return complete }
        let stored = readRows(of: url, urlKey, before, wanting, withOlder: withOlder)
        let rows = before.merge(stored ?? [], of: url)
        // What could not be read is no reason to believe that there is nothing.
        if before.hasMemory, stored != nil || !before.usesDisk {
            state.withLock { state in
                // Neither this process nor another one has changed anything meanwhile.
                guard state.changes[urlKey] == before.changes, state.memory.epoch == before.epoch else { return }
                state.memory.fill(rows, of: url, key: urlKey)
            }
        }
        return rows
    }

    /// What memory says: all rows, if it knows them all. It believes itself for a second after the database has said that
    /// nothing has changed.
    private func glance(at url: String, _ urlKey: UInt64) -> (complete: [StoredRow]?, before: Before) {
        let now = time.now
        let (isDue, glance) = state.withLock { state in
            (state.isDue(at: now), state.glance(at: url, urlKey))
        }
        guard isDue else { return glance }
        let hasChanged = readDisk { try $0.hasChanged() } ?? true
        return state.withLock { state in
            state.lookedAt = max(state.lookedAt, now)
            if hasChanged { state.memory.doubtAll() }
            return state.glance(at: url, urlKey)
        }
    }

    /// What memory knew before the disk was asked.
    fileprivate struct Before {
        let known: [StoredRow]
        let waiting: [Change]
        let changes: Int
        let epoch: Int
        let usesDisk: Bool
        let hasMemory: Bool

        init(_ state: State, _ url: String, _ urlKey: UInt64) {
            known = state.memory.knownRows(of: url, key: urlKey)
            waiting = state.log.changes(for: urlKey)
            changes = state.changes[urlKey]
            epoch = state.memory.epoch
            usesDisk = state.diskCapacity > 0
            hasMemory = state.memory.capacity > 0
        }

        /// Whether the disk alone knows.
        var isSilent: Bool { waiting.isEmpty && known.isEmpty }

        /// Whether memory has the body of a response, which the same identifier always has.
        func hasBody(_ id: Int64) -> Bool {
            known.contains { $0.id == id && $0.body != nil }
        }

        func merge(_ stored: [StoredRow], of url: String) -> [StoredRow] {
            if isSilent { return stored }
            var rows = stored
            for change in changesAfter(stored) { change.apply(to: &rows, of: url) }
            for row in known {
                if row.isMemoryOnly {
                    rows.append(row)
                } else if let index = rows.firstIndex(where: { $0.id == row.id }) {
                    rows[index].body = rows[index].body ?? row.body
                    if rows[index].revision == row.revision { rows[index].cached = rows[index].cached ?? row.cached }
                }
            }
            return rows.sorted { $0.revision > $1.revision }
        }

        /// What waited and is not in these rows of the database yet. Changes are written in order, so that a row which
        /// one of them has made tells that all before it have been written, too.
        private func changesAfter(_ stored: [StoredRow]) -> ArraySlice<Change> {
            let written = waiting.lastIndex { change in
                change.revision.map { revision in stored.contains { $0.revision == revision } } ?? false
            }
            return waiting[(written.map { $0 + 1 } ?? 0)...]
        }
    }

    /// nil if the disk is not used, or there is nothing that could be read.
    private func readRows(
        of url: String, _ urlKey: UInt64, _ before: Before, _ wanting: ((StoredRow) -> Bool)?, withOlder: Bool
    ) -> [StoredRow]? {
        guard before.usesDisk else { return nil }
        let endsThere = !withOlder && !before.hasMemory && before.isSilent
        var missingBefore: Set<Int64>?
        while true {
            let answer = readDisk { connection in
                try connection.rows(
                    of: url, urlKey: urlKey, wanting: wanting, hasBody: before.hasBody, endsThere: endsThere)
            }
            guard let answer else { return nil }
            drop(answer.damaged, urlKey)
            // A body file that is gone at the first try was evicted meanwhile; at the second it is missing.
            guard let missingBefore else {
                if answer.missing.isEmpty { return answer.rows }
                missingBefore = Set(answer.missing)
                continue
            }
            drop(answer.missing.filter(missingBefore.contains), urlKey)
            return answer.rows.filter { !answer.missing.contains($0.id) }
        }
    }

    /// The body of a response; nil if it is gone, or was damaged and has been dropped.
    ///
    /// - Parameter variant: that of the response; only asked for while changes wait.
    func body(of id: Int64, url: String, variant: () -> UInt64) -> Data? {
        guard !Fork.isChild else { return nil }
        let urlKey = Digest.of(url)
        let (known, waiting, usesDisk) = state.withLock { state in
            let known = state.memory.knownRows(of: url, key: urlKey).first { $0.id == id }
            return (known, state.log.changes(for: urlKey), state.diskCapacity > 0)
        }
        if let body = known?.body { return body }
        if !waiting.isEmpty {
            // Before an update that waits it had another variant.
            let isUpdated = waiting.contains { $0.isUpdate(of: id) }
            var rows = [StoredRow.placeholder(id, url, urlKey, isUpdated ? 0 : variant())]
            for change in waiting { change.apply(to: &rows, of: url) }
            guard let row = rows.first(where: { $0.id == id }) else { return nil }
            if let body = row.body { return body }
        }
        guard usesDisk, let body = readBody(of: id, urlKey) else { return nil }
        if let known { keep(body, nil, for: known) }
        return body
    }

    private func readBody(of id: Int64, _ urlKey: UInt64) -> Data? {
        for isLastTry in [false, true] {
            switch readDisk({ try $0.body(of: id, urlKey) }) {
            case .whole(let body): return body
            case .damaged: drop([id], urlKey)
            case .missing where !isLastTry: continue
            case .missing: drop([id], urlKey)
            case .unreadable, nil, .some(nil): break
            }
            return nil
        }
        return nil
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
    private func drop(_ ids: [Int64], _ urlKey: UInt64) {
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

    /// Whether it is time to ask whether another process has changed the database.
    fileprivate func isDue(at now: Date) -> Bool {
        // A clock that was set back is no reason to wait longer.
        memory.capacity > 0 && diskCapacity > 0 && abs(now.timeIntervalSince(lookedAt)) >= ResponseCache.blindInterval
    }

    fileprivate mutating func glance(
        at url: String, _ urlKey: UInt64
    ) -> (complete: [StoredRow]?, before: ResponseCache.Before) {
        (memory.completeRows(of: url, key: urlKey), ResponseCache.Before(self, url, urlKey))
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

/// Counts changes, so that what was read from the disk before a change does not get into memory after it.
struct ChangeCounts {
    private var counts = [Int](repeating: 0, count: 1024)

    /// Grows with each change that may concern the URL.
    subscript(urlKey: UInt64) -> Int { counts[Int(urlKey % 1024)] }

    mutating func count(_ urlKey: UInt64?) {
        if let urlKey {
            counts[Int(urlKey % 1024)] += 1
        } else {
            for index in counts.indices { counts[index] += 1 }
        }
    }
}
