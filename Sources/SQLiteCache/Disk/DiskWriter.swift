import Foundation
import SynchronizerSupport

/// Writes changes to the database, on one serial queue, in the background.
final class DiskWriter: @unchecked Sendable {  // its variables are touched on `queue` only
    private let directory: CacheDirectory
    private let report: @Sendable (String) -> Void
    private let didOpen: @Sendable () -> Void
    let queue = DispatchQueue(label: "SQLiteURLCache.writer", qos: .utility)
    let busyTimeout: BusyTimeout
    private let retryInterval: TimeInterval
    private let now: @Sendable () -> UInt64
    var connection: WriteConnection?
    /// The generation whose indexes were rebuilt because a reader had found it unusable.
    private var repaired: Generation?
    private var hasReportedFailure = false
    private var willRetry = false
    /// Since when removals have failed without a pause.
    private var failingSince: UInt64?

    /// - Parameters:
    ///   - report: receives what users should know, in one line.
    ///   - didOpen: is called when a database was opened, which may be a new one.
    ///   - busyTimeout: how long to wait while another process writes.
    ///   - retryInterval: seconds after which a failed write is tried again.
    ///   - now: a clock, in nanoseconds.
    init(
        directory: CacheDirectory, report: @escaping @Sendable (String) -> Void,
        didOpen: @escaping @Sendable () -> Void = {}, busyTimeout: BusyTimeout = BusyTimeout(seconds: 4),
        retryInterval: TimeInterval = DiskRecovery.retryInterval, now: @escaping @Sendable () -> UInt64 = Uptime.now
    ) {
        self.directory = directory
        self.report = report
        self.didOpen = didOpen
        self.busyTimeout = busyTimeout
        (self.retryInterval, self.now) = (retryInterval, now)
    }

    /// Writes the changes that are pending now, in the background.
    func write(from source: some WriteSource, then done: @escaping @Sendable () -> Void = {}) {
        let end = source.pendingEnd
        queue.async { [self] in
            _ = drain(source, before: end)
            done()
        }
    }

    /// Writes the changes that are pending now and the usage times, and enforces the capacity, in the background.
    ///
    /// - Parameter isLast: whether failed removals can't be tried again.
    func flush(from source: some WriteSource, isLast: Bool = false, then done: @escaping @Sendable () -> Void) {
        let end = source.pendingEnd
        queue.async { [self] in
            if drain(source, before: end, isLast: isLast) { tidy(source) }
            done()
        }
    }

    /// Closes the files. The next use opens them again.
    func close(then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            connection = nil
            done()
        }
    }

    /// Replaces a generation that a reader found unusable, unless that has already happened. First tries whether only its indexes
    /// are corrupt, but only once: the reader may have met something else.
    func replaceUnusable(_ generation: Generation, reason: String) {
        queue.async { [self] in
            guard (try? Generation.newest(in: directory)) == generation else { return }
            if repaired != generation {
                repaired = generation
                if connection?.generation != generation { reopen(reporting: false) }
                if let connection, connection.generation == generation, connection.rebuildsIndexes() { return }
            }
            reopen(replacing: (generation, reason))
        }
    }

    /// Writes the changes before the number `last`; later changes are written in the background. So a thread that stores faster
    /// than the disk writes does not hold up the threads that wait. Returns false if a change could not be written.
    func drain(_ source: some WriteSource, before last: Int, isLast: Bool = false) -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        var hasAbandonedStores = false
        while true {
            let budget = DiskBudget(capacity: source.diskCapacity)
            let (changes, end) = source.nextBatch(budget)
            if changes.isEmpty { return true }
            switch write(changes, source: source, budget: budget) {
            case .success:
                (hasAbandonedStores, failingSince) = (false, nil)
                if changes.contains(where: \.isStore) { hasReportedFailure = false }
                source.didWrite(before: end)
            case .failure(.busy):
                failingSince = nil  // that another process writes says nothing of the disk
                source.diskIsBusy()
                retrySoon(source)
                return false
            case .failure(.failed)
            where hasAbandonedStores
                && writeWithoutJournal(changes, source: source, budget: budget):
                failingSince = nil
                source.didWrite(before: end)
            case .failure(let failure) where hasAbandonedStores:
                removalsFailed(source, isLast: isLast, because: failure)
                return false
            case .failure:
                hasAbandonedStores = true
                source.abandonStores()
                continue
            }
            if end >= last {
                write(from: source)
                return true
            }
        }
    }

    /// Retries removals that have failed. If they fail for long, deletes the database: the cache may lose entries, but must not
    /// serve removed ones.
    private func removalsFailed(_ source: some WriteSource, isLast: Bool, because failure: WriteFailure) {
        guard source.diskFailed() else { return }
        if failure == .outOfResources {
            failingSince = nil
            return retrySoon(source)
        }
        let now = now()
        let since = failingSince ?? now
        failingSince = since
        let isLong = isLast || now - since > DiskRecovery.longestFailure
        if isLong, retireGeneration() { source.didRemoveDatabase() } else { retrySoon(source) }
    }

    /// Writes the pending changes after a while, because the disk takes no changes now.
    func writeSoon(from source: some WriteSource) {
        queue.async { [self] in retrySoon(source) }
    }

    /// Keeps the source until then: a removal must not be lost because the cache is released.
    private func retrySoon(_ source: some WriteSource) {
        dispatchPrecondition(condition: .onQueue(queue))
        if willRetry { return }
        willRetry = true
        queue.asyncAfter(deadline: .now() + retryInterval) { [self] in
            willRetry = false
            _ = drain(source, before: source.pendingEnd)
        }
    }

    private func write(
        _ changes: [Change], source: some WriteSource, budget: DiskBudget
    ) -> Result<Void, WriteFailure> {
        if connection == nil, isMissing, !changes.contains(where: \.isStore) { return .success(()) }
        var changes = changes[...]
        if case .removeAll? = changes.first {
            if let failure = startAnew() { return .failure(failure) }
            changes = changes.dropFirst()
        }
        if changes.isEmpty { return .success(()) }
        return attempt { connection in
            let connection = try shrunk(connection, budget: budget, source: source)
            source.didEvict(try connection.write(changes, budget: budget, source: source))
        }
    }

    /// Writes removals without a journal on the disk, for which a full disk has no room. If the process ends during the write,
    /// the next one finds a corrupt database: the cache may lose entries, but must not serve removed ones.
    private func writeWithoutJournal(_ changes: [Change], source: some WriteSource, budget: DiskBudget) -> Bool {
        connection = nil
        if case .removeAll? = changes.first { return false }  // a removal of everything needs no journal
        guard let newest = try? Generation.newest(in: directory), (try? directory.check()) != nil,
            let connection = try? WriteConnection(
                directory: directory, generation: newest, busyTimeout: busyTimeout, hasJournal: false)
        else { return false }
        return (try? connection.write(changes[...], budget: budget, source: source)) != nil
    }

    private func tidy(_ source: some WriteSource) {
        let budget = DiskBudget(capacity: source.diskCapacity)
        if connection == nil, budget.capacity == 0 || isMissing { return }
        _ = attempt { connection in
            let connection = try shrunk(connection, budget: budget, source: source)
            try connection.markUsed(from: source, budget: budget)
            source.didEvict(try connection.change(needing: DiskNeed(), budget: budget, marking: {}))
            try connection.giveBackFreePages(budget: budget)
        }
    }

    // MARK: - Generations

    /// Whether it is certain that there is no generation. A directory that can't be listed may have one.
    private var isMissing: Bool {
        do { return try Generation.newest(in: directory) == nil } catch { return false }
    }

    /// Opens the generation in use. Makes a new one first if there is none, or if it is unusable.
    ///
    /// - Parameter unusable: a generation to replace, and why.
    /// - Returns: nil if there is a connection now.
    @discardableResult
    func reopen(
        replacing unusable: (generation: Generation, reason: String)? = nil, reporting reports: Bool = true
    ) -> WriteFailure? {
        dispatchPrecondition(condition: .onQueue(queue))
        connection = nil
        do {
            connection = try open(replacing: unusable)
            return nil
        } catch {
            let failure = WriteFailure(error)
            if reports, failure != .busy { reportFailure(error) }
            return failure
        }
    }

    private func open(replacing unusable: (generation: Generation, reason: String)?) throws -> WriteConnection {
        try directory.prepare()
        var unusable = unusable
        for _ in 0..<4 {
            let newest = try Generation.newest(in: directory)
            if let newest, newest != unusable?.generation {
                do {
                    let opened = try WriteConnection(
                        directory: directory, generation: newest, busyTimeout: busyTimeout)
                    newest.removeOthers(in: directory)
                    didOpen()
                    return opened
                } catch let failure as SQLiteFailure where failure.isCorruption {
                    unusable = (newest, failure.message)
                } catch is WriteConnection.Superseded {
                    continue
                }
            }
            try Generation.make(after: newest, in: directory)
            if let unusable {
                unusable.generation.retire(from: directory)
                report("replaced the cache database in \(unusable.generation.path): \(unusable.reason)")
            }
        }
        throw SQLiteFailure.corruption("no database can be made")
    }

    /// The connection, or a connection to a new generation if many entries had to be removed.
    private func shrunk(
        _ connection: WriteConnection, budget: DiskBudget, source: some WriteSource
    ) throws -> WriteConnection {
        let evicted = try connection.shrink(budget: budget) {
            try connection.markUsed(from: source, budget: budget)
        }
        guard let evicted else { return connection }
        source.didEvict(evicted)
        self.connection = nil
        let shrunk = try open(replacing: nil)
        self.connection = shrunk
        return shrunk
    }

    /// Removes everything by making a new generation; returns nil if that worked.
    private func startAnew() -> WriteFailure? {
        connection = nil
        do {
            return try Generation.startAnew(in: directory) ? nil : .failed
        } catch {
            reportFailure(error)
            return WriteFailure(error)
        }
    }

    /// Takes the generation out of use; returns whether there is none now.
    private func retireGeneration() -> Bool {
        connection = nil
        guard (try? directory.check()) != nil, let newest = try? Generation.newest(in: directory) else {
            return isMissing
        }
        return newest.retire(from: directory) && isMissing
    }

    func reportFailure(_ error: any Error) {
        if hasReportedFailure { return }
        hasReportedFailure = true
        report("the cache in \(directory.path) uses only memory: \(error)")
    }
}
