import Foundation
import SynchronizerSupport

/// Writes changes to the database, on one serial queue, in the background.
final class DiskWriter: @unchecked Sendable {  // its variables are touched on `queue` only
    enum WriteResult {
        case done
        /// Another process held the lock for too long.
        case busy
        case failed
        /// The process has no memory or descriptors left.
        case outOfResources

        init(_ error: any Error) {
            let failure = error as? SQLiteFailure
            self = failure?.isBusy == true ? .busy : failure?.isShortage == true ? .outOfResources : .failed
        }
    }

    private let directory: CacheDirectory
    private let report: @Sendable (String) -> Void
    private let didOpen: @Sendable () -> Void
    let queue = DispatchQueue(label: "SQLiteURLCache.writer", qos: .utility)
    let busyTimeout: BusyTimeout
    private let retryInterval: TimeInterval
    private let now: @Sendable () -> UInt64
    var connection: WriteConnection?
    private var hasReportedFailure = false
    private var willRetry = false
    /// Since when removals have failed.
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

    /// Writes the pending changes, in the background.
    func write(from source: some WriteSource, then done: @escaping @Sendable () -> Void = {}) {
        queue.async { [self] in
            _ = drain(source)
            done()
        }
    }

    /// Writes the pending changes and the usage times, and enforces the capacity, in the background.
    ///
    /// - Parameter isLast: whether failed removals can't be tried again.
    func flush(from source: some WriteSource, isLast: Bool = false, then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            if drain(source, isLast: isLast) { tidy(source) }
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

    /// Replaces a generation that a reader found unusable, unless that has already happened.
    func replaceUnusable(_ generation: Generation, reason: String) {
        queue.async { [self] in
            guard (try? Generation.newest(in: directory)) == generation else { return }
            reopen(replacing: (generation, reason))
        }
    }

    /// Returns false if a change could not be written.
    func drain(_ source: some WriteSource, isLast: Bool = false) -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        var hasAbandonedStores = false
        while true {
            let budget = DiskBudget(capacity: source.diskCapacity)
            let (changes, end) = source.nextBatch(budget)
            if changes.isEmpty { return true }
            let result = write(changes, source: source, budget: budget)
            switch result {
            case .done:
                (hasAbandonedStores, failingSince) = (false, nil)
                if changes.contains(where: \.isStore) { hasReportedFailure = false }
                source.didWrite(before: end)
            case .busy:
                source.diskIsBusy()
                retrySoon(source)
                return false
            case .failed where hasAbandonedStores && writeWithoutJournal(changes, source: source, budget: budget):
                source.didWrite(before: end)
            case .failed where hasAbandonedStores, .outOfResources where hasAbandonedStores:
                removalsFailed(source, isLast: isLast, isShortage: result == .outOfResources)
                return false
            case .failed, .outOfResources:
                hasAbandonedStores = true
                source.abandonStores()
            }
        }
    }

    /// What can't be removed must not come back: losing entries is safe, serving removed ones is not.
    private func removalsFailed(_ source: some WriteSource, isLast: Bool, isShortage: Bool) {
        guard source.diskFailed() else { return }
        let now = now()
        let since = failingSince ?? now
        failingSince = since
        let isLong = isLast || now - since > DiskRecovery.longestFailure
        if isLong, !isShortage, retireGeneration() { source.didRemoveDatabase() } else { retrySoon(source) }
    }

    private func retrySoon(_ source: some WriteSource) {
        if willRetry { return }
        willRetry = true
        queue.asyncAfter(deadline: .now() + retryInterval) { [weak self, weak source] in
            guard let self, let source else { return }
            willRetry = false
            _ = drain(source)
        }
    }

    /// Writes a batch. It tries again if the database has to be opened again.
    private func write(_ changes: [Change], source: some WriteSource, budget: DiskBudget) -> WriteResult {
        if connection == nil, isMissing, !changes.contains(where: \.isStore) { return .done }
        var changes = changes[...]
        if case .removeAll? = changes.first {
            if let failure = startAnew() { return failure }
            changes = changes.dropFirst()
        }
        if changes.isEmpty { return .done }
        for attempt in 0..<4 {
            if connection == nil, let failure = reopen(reporting: attempt > 0) {
                if attempt == 0, failure != .busy { continue }
                return failure
            }
            guard let connection else { return .failed }
            do {
                let evicted = try shrunk(connection, budget: budget, source: source)
                    .write(changes, budget: budget, source: source)
                source.didEvict(evicted)
                return .done
            } catch is WriteConnection.Superseded {
                self.connection = nil
            } catch let failure as SQLiteFailure where failure.isCorruption {
                reopen(replacing: (connection.generation, failure.message))
            } catch {
                self.connection = nil
                let result = WriteResult(error)
                if result == .busy { return .busy }
                guard attempt > 0 else { continue }
                reportFailure(error)
                return result
            }
        }
        return .failed
    }

    /// Writes removals without a journal, for which a full disk has no room. If the process ends in the middle of that, the
    /// next one finds a corrupt database: losing entries is safe, serving removed ones is not.
    private func writeWithoutJournal(_ changes: [Change], source: some WriteSource, budget: DiskBudget) -> Bool {
        connection = nil
        if case .removeAll? = changes.first { return false }  // this needs no journal anyway
        guard let newest = try? Generation.newest(in: directory), (try? directory.check()) != nil,
            let connection = try? WriteConnection(
                directory: directory, generation: newest, busyTimeout: busyTimeout, hasJournal: false)
        else { return false }
        return (try? connection.write(changes[...], budget: budget, source: source)) != nil
    }

    private func tidy(_ source: some WriteSource) {
        dispatchPrecondition(condition: .onQueue(queue))
        let budget = DiskBudget(capacity: source.diskCapacity)
        if connection == nil, budget.capacity > 0, !isMissing { reopen() }
        guard let connection else { return }
        do {
            let connection = try shrunk(connection, budget: budget, source: source)
            try connection.markUsed(from: source, budget: budget)
            source.didEvict(try connection.change(needing: DiskNeed(), budget: budget, marking: {}))
            try connection.giveBackFreePages(budget: budget)
        } catch let failure as SQLiteFailure where failure.isCorruption {
            reopen(replacing: (connection.generation, failure.message))
        } catch {
            self.connection = nil
            if !(error is WriteConnection.Superseded), WriteResult(error) != .busy { reportFailure(error) }
        }
    }

    // MARK: - Generations

    /// Whether there certainly is no generation. A directory that can't be listed may have one.
    private var isMissing: Bool {
        do { return try Generation.newest(in: directory) == nil } catch { return false }
    }

    /// Opens the generation in use, and makes one if there is none that is usable.
    ///
    /// - Parameter unusable: a generation to replace, and why.
    /// - Returns: nil if there is a connection now.
    @discardableResult
    func reopen(
        replacing unusable: (generation: Generation, reason: String)? = nil, reporting reports: Bool = true
    ) -> WriteResult? {
        dispatchPrecondition(condition: .onQueue(queue))
        connection = nil
        do {
            connection = try open(replacing: unusable)
            return nil
        } catch {
            let result = WriteResult(error)
            if reports, result != .busy { reportFailure(error) }
            return result
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
    private func startAnew() -> WriteResult? {
        connection = nil
        do {
            guard let newest = try Generation.newest(in: directory) else { return nil }
            try directory.check()
            try? Generation.make(after: newest, in: directory)  // a full disk has no room for it
            defer { newest.removeOthers(in: directory) }
            return newest.retire(from: directory) ? nil : .failed
        } catch {
            reportFailure(error)
            return WriteResult(error)
        }
    }

    /// Takes the generation out of use; returns whether there is none now.
    private func retireGeneration() -> Bool {
        connection = nil
        guard (try? directory.check()) != nil, let newest = try? Generation.newest(in: directory) else {
            return isMissing
        }
        return newest.retire(from: directory)
    }

    private func reportFailure(_ error: any Error) {
        if hasReportedFailure { return }
        hasReportedFailure = true
        report("the cache in \(directory.path) keeps to memory: \(error)")
    }
}
