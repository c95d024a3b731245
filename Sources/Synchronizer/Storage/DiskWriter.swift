import Foundation

/// Brings changes into the database, on one serial queue, in the background.
final class DiskWriter: @unchecked Sendable {  // its variables are touched on `queue` only
    private enum Outcome {
        case done
        /// Another process has held the lock all the time.
        case busy
        case failed
        /// There is no more memory, or no more descriptors.
        case short

        init(_ error: any Error) {
            let failure = error as? SQLiteFailure
            self = failure?.isBusy == true ? .busy : failure?.isShortage == true ? .short : .failed
        }
    }

    /// Seconds after which is tried again what could not be written.
    static let pause: TimeInterval = 2
    /// Nanoseconds for which removals may fail before the database is given up.
    private static let longestFailure: UInt64 = 20_000_000_000

    private let directory: CacheDirectory
    private let report: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "SQLiteURLCache.writer", qos: .utility)
    private let busyTimeout: BusyTimeout
    private var connection: WriteConnection?
    private var hasReportedFailure = false
    private var triesAgain = false
    /// Since when removals could not be written.
    private var failsSince: UInt64?

    /// - Parameters:
    ///   - report: told what users should know, in one line.
    ///   - busyTimeout: for how long to wait while another process writes.
    init(
        _ directory: CacheDirectory, report: @escaping @Sendable (String) -> Void,
        busyTimeout: BusyTimeout = BusyTimeout(seconds: 4)
    ) {
        self.directory = directory
        self.report = report
        self.busyTimeout = busyTimeout
    }

    /// Writes what waits; returns at once.
    func write(from source: some WriteSource, then done: @escaping @Sendable () -> Void = {}) {
        queue.async { [self] in
            _ = drain(source)
            done()
        }
    }

    /// Writes what waits and the times of use, and brings the directory down to its capacity.
    ///
    /// - Parameter isLast: removals that fail are not tried again.
    func flush(from source: some WriteSource, isLast: Bool = false, then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            if drain(source, isLast: isLast) { tidy(source) }
            done()
        }
    }

    /// Lets go of the files; the next use opens them again.
    func close(then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            connection = nil
            done()
        }
    }

    /// Replaces a generation that a reader found damaged, unless that has happened already.
    func replaceDamaged(_ generation: Generation, because reason: String) {
        queue.async { [self] in
            guard (try? Generation.newest(in: directory)) == generation else { return }
            reopen(replacing: (generation, reason))
        }
    }

    /// False if something could not be written.
    private func drain(_ source: some WriteSource, isLast: Bool = false) -> Bool {
        var hasGivenUpStores = false
        while true {
            let budget = DiskBudget(capacity: source.diskCapacity)
            let (changes, end) = source.nextBatch(budget)
            if changes.isEmpty { return true }
            let outcome = write(changes, source, budget)
            switch outcome {
            case .done:
                (hasGivenUpStores, failsSince) = (false, nil)
                if changes.contains(where: \.isStore) { hasReportedFailure = false }
                source.didWrite(before: end)
            case .busy:
                source.pauseDisk()
                tryAgainSoon(source)
                return false
            case .failed where hasGivenUpStores, .short where hasGivenUpStores:
                guard source.giveUpDisk() else { return false }
                let now = DispatchTime.now().uptimeNanoseconds
                failsSince = failsSince ?? now
                // What can't be removed must not come back: losing entries is safe, serving removed ones is not.
                let isLong = isLast || now - (failsSince ?? now) > Self.longestFailure
                if isLong, outcome == .failed, abandon() { source.forgetDisk() } else { tryAgainSoon(source) }
                return false
            case .failed, .short:
                hasGivenUpStores = true
                source.giveUpStores()
            }
        }
    }

    private func tryAgainSoon(_ source: some WriteSource) {
        if triesAgain { return }
        triesAgain = true
        queue.asyncAfter(deadline: .now() + Self.pause) { [weak self, weak source] in
            guard let self, let source else { return }
            triesAgain = false
            _ = drain(source)
        }
    }

    /// Writes a batch, with another try if the database had to be opened again.
    private func write(_ changes: [Change], _ source: some WriteSource, _ budget: DiskBudget) -> Outcome {
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
                source.didEvict(try shrunk(connection, budget, source).write(changes, budget, source))
                return .done
            } catch is WriteConnection.Superseded {
                self.connection = nil
            } catch let failure as SQLiteFailure where failure.isDamage {
                reopen(replacing: (connection.generation, failure.message))
            } catch {
                self.connection = nil
                let outcome = Outcome(error)
                if outcome == .busy { return .busy }
                guard attempt > 0 else { continue }
                reportFailure(error)
                return outcome
            }
        }
        return .failed
    }

    private func tidy(_ source: some WriteSource) {
        let budget = DiskBudget(capacity: source.diskCapacity)
        if connection == nil, budget.capacity > 0, !isMissing { reopen() }
        guard let connection else { return }
        do {
            let connection = try shrunk(connection, budget, source)
            try connection.markUsed(from: source, budget)
            source.didEvict(try connection.change(WriteConnection.Need(), budget, marking: {}))
            try connection.giveBackFreePages(budget)
        } catch let failure as SQLiteFailure where failure.isDamage {
            reopen(replacing: (connection.generation, failure.message))
        } catch {
            self.connection = nil
            if !(error is WriteConnection.Superseded), Outcome(error) != .busy { reportFailure(error) }
        }
    }

    // MARK: - Generations

    /// Whether there is no generation for certain: a directory that can't be listed at the moment may have one.
    private var isMissing: Bool {
        do { return try Generation.newest(in: directory) == nil } catch { return false }
    }

    /// Opens the generation in use; makes one if there is none, or none that can be used.
    ///
    /// - Parameter damaged: one that is not to be used any more, and why.
    /// - Returns: nil if there is a connection now.
    @discardableResult
    private func reopen(
        replacing damaged: (generation: Generation, reason: String)? = nil, reporting reports: Bool = true
    ) -> Outcome? {
        connection = nil
        do {
            connection = try open(replacing: damaged)
            return nil
        } catch {
            let outcome = Outcome(error)
            if reports, outcome != .busy { reportFailure(error) }
            return outcome
        }
    }

    private func open(replacing damaged: (generation: Generation, reason: String)?) throws -> WriteConnection {
        try directory.prepare()
        var damaged = damaged
        for _ in 0..<4 {
            let newest = try Generation.newest(in: directory)
            if let newest, newest != damaged?.generation {
                do {
                    let opened = try WriteConnection(directory, newest, busyTimeout: busyTimeout)
                    newest.removeOlder(in: directory)
                    return opened
                } catch let failure as SQLiteFailure where failure.isDamage {
                    damaged = (newest, failure.message)
                } catch is WriteConnection.Superseded {
                    continue
                }
            }
            try Generation.make(after: newest, in: directory)
            if let damaged {
                damaged.generation.retire(from: directory)
                report("replaced the cache database in \(damaged.generation.path): \(damaged.reason)")
            }
        }
        throw SQLiteFailure.damage("no database can be made")
    }

    /// The connection, or one to a new generation if much had to go.
    private func shrunk(
        _ connection: WriteConnection, _ budget: DiskBudget, _ source: some WriteSource
    ) throws -> WriteConnection {
        let evicted = try connection.shrink(budget) { try connection.markUsed(from: source, budget) }
        guard let evicted else { return connection }
        source.didEvict(evicted)
        self.connection = nil
        let shrunk = try open(replacing: nil)
        self.connection = shrunk
        return shrunk
    }

    /// Removes everything, which is a new generation.
    private func startAnew() -> Outcome? {
        connection = nil
        do {
            guard let newest = try Generation.newest(in: directory) else { return nil }
            try directory.check()
            try Generation.make(after: newest, in: directory)
            defer { newest.removeOlder(in: directory) }
            return newest.retire(from: directory) ? nil : .failed
        } catch {
            reportFailure(error)
            return Outcome(error)
        }
    }

    /// Gives up the database; returns whether there is none now.
    private func abandon() -> Bool {
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

extension WriteConnection {
    /// Writes a batch of changes, after making room for it; returns how many responses were evicted.
    fileprivate func write(
        _ changes: ArraySlice<Change>, _ budget: DiskBudget, _ source: some WriteSource
    ) throws -> Int {
        if case .removeSince(let moment)? = changes.first {
            try removeAll(since: moment, budget)
            return 0
        }
        var need = Need()
        for case .store(let row) in changes where row.bodySize <= budget.largestBody {
            need.database += 4096
            if row.bodySize > Schema.largestBodyInDatabase {
                need.files += BodyFiles.blocks(Int64(row.bodySize))
            } else {
                need.database += Int64(row.bodySize)
            }
        }
        return try change(need, budget, marking: { try markUsed(from: source, budget) }) {
            for change in changes { try apply(change, budget) }
        }
    }

    fileprivate func markUsed(from source: some WriteSource, _ budget: DiskBudget) throws {
        let used = source.takeUsed()
        do {
            try markUsed(used, budget)
        } catch {
            source.giveBack(used: used)
            throw error
        }
    }
}
