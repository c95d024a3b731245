import Foundation

/// Whose changes a `DiskWriter` writes.
protocol WriteSource: AnyObject, Sendable {
    var diskCapacity: Int { get }
    /// The next changes, and how to name their end when they are written.
    func nextBatch(_ budget: DiskBudget) -> (changes: [Change], end: Int)
    func didWrite(before end: Int)
    func didEvict(_ count: Int)
    /// The responses that wait can't be written; removals still can, perhaps.
    func giveUpStores()
    /// Nothing can be written, and nothing that is in the database counts any more.
    func giveUpDisk()
    /// The times of use that the database does not know yet; forgets them.
    func takeUsed() -> [Int64: Int64]
}

/// Brings changes into the database, on one serial queue, behind everybody's back.
final class DiskWriter: @unchecked Sendable {  // its variables are touched on `queue` only
    private enum Outcome {
        case done
        /// Another process has held the lock all the time.
        case busy
        case failed
    }

    private let directory: CacheDirectory
    private let report: @Sendable (String) -> Void
    private let didOpen: @Sendable (DatabaseFile) -> Void
    private let queue = DispatchQueue(label: "SQLiteURLCache.writer", qos: .utility)
    private var connection: WriteConnection?
    /// Whether something was written since the database was last at rest.
    private var isRestless = false
    private var hasReportedFailure = false
    /// The database that a reader has complained of.
    private var doubted: FileIdentity?

    /// - Parameters:
    ///   - report: told what users should know, in one line.
    ///   - didOpen: told of each database that is used from then on.
    init(
        _ directory: CacheDirectory, report: @escaping @Sendable (String) -> Void,
        didOpen: @escaping @Sendable (DatabaseFile) -> Void
    ) {
        self.directory = directory
        self.report = report
        self.didOpen = didOpen
    }

    /// Starts writing what waits; returns at once.
    func write(from source: some WriteSource) {
        queue.async { [self] in drain(source) }
    }

    /// Writes what waits and the times of use, and brings the directory down to its capacity.
    func flush(from source: some WriteSource, then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            drain(source)
            tidy(source)
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

    /// Replaces a database that a reader found damaged, unless that has happened already.
    func replaceDamaged(_ file: FileIdentity, because reason: String) {
        queue.async { [self] in
            guard let current = DatabaseFile.current(in: directory), current.identity?.isSameFile(as: file) == true
            else { return }
            // One complaint is looked into, the next one is believed.
            if doubted?.isSameFile(as: file) != true, isSound {
                doubted = file
            } else {
                reopen(condemning: (current, reason))
            }
        }
    }

    /// Whether the whole database passes SQLite's check.
    private var isSound: Bool {
        if connection?.isCurrent != true { reopen() }
        return (try? connection?.isSound()) ?? false
    }

    private func drain(_ source: some WriteSource) {
        var hasGivenUpStores = false
        while true {
            let budget = DiskBudget(capacity: source.diskCapacity)
            let (changes, end) = source.nextBatch(budget)
            if changes.isEmpty { return restSoon() }
            switch write(changes, source, budget) {
            case .done:
                if connection != nil { hasReportedFailure = false }
                source.didWrite(before: end)
            case .busy:
                queue.asyncAfter(deadline: .now() + 1) { [self] in drain(source) }
                return
            case .failed where hasGivenUpStores:
                abandonDatabase()
                return source.giveUpDisk()
            case .failed:
                hasGivenUpStores = true
                source.giveUpStores()
            }
        }
    }

    /// Writes a batch, with a second try if the database had to be opened again.
    private func write(_ changes: [Change], _ source: some WriteSource, _ budget: DiskBudget) -> Outcome {
        if connection == nil, DatabaseFile.current(in: directory) == nil, !changes.contains(where: \.isStore) {
            return .done  // nothing is there that could be removed
        }
        for _ in 0..<2 {
            if connection?.isCurrent != true { reopen() }
            guard let connection else { return .failed }
            do {
                try connection.write(changes, budget, source)
                return .done
            } catch let failure as SQLiteFailure where failure.isDamage {
                reopen(condemning: (connection.file, failure.message))
            } catch let failure as SQLiteFailure where failure.isBusy {
                return .busy
            } catch {
                reportFailure(error)
                self.connection = nil
            }
        }
        return .failed
    }

    private func tidy(_ source: some WriteSource) {
        if connection == nil, DatabaseFile.current(in: directory) != nil { reopen() }
        guard let connection, connection.isCurrent else { return }
        let budget = DiskBudget(capacity: source.diskCapacity)
        do {
            try connection.markUsed(source.takeUsed())
            source.didEvict(try connection.makeRoom(for: 0, budget, used: { [:] }))
            try rest(connection, budget)
        } catch {
            self.connection = nil
        }
    }

    /// Once nothing has been written for a second, the log goes into the database: then readers find everything in
    /// memory-mapped pages, and need not search the log for each.
    private func restSoon() {
        if isRestless { return }
        isRestless = true
        let written = connection?.writes
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in
            guard let self else { return }
            isRestless = false
            guard let connection else { return }
            if connection.writes != written { return restSoon() }
            do {
                try rest(connection, DiskBudget(capacity: .max))
            } catch {
                self.connection = nil
            }
        }
    }

    private func rest(_ connection: WriteConnection, _ budget: DiskBudget) throws {
        try connection.removeStrayFiles()
        try connection.giveBackFreePages(budget)
        try connection.database.checkpoint(truncating: false)
    }

    private func reopen(condemning condemned: (file: DatabaseFile, reason: String)? = nil) {
        connection = nil
        do {
            let opened = try DatabaseMaker(directory: directory, report: report).open(condemning: condemned)
            connection = opened
            didOpen(opened.file)
        } catch {
            reportFailure(error)
        }
    }

    private func reportFailure(_ error: any Error) {
        if hasReportedFailure { return }
        hasReportedFailure = true
        report("the cache in \(directory.path) keeps to memory: \(error)")
    }

    /// What could not be removed must not come back: a cache may forget, but not remember wrongly.
    private func abandonDatabase() {
        connection = nil
        guard (try? directory.check()) != nil else { return }  // what is not ours is left alone
        DatabaseFile.current(in: directory)?.remove()
    }
}

extension WriteConnection {
    /// Writes a batch of changes, after making room for it.
    fileprivate func write(_ changes: [Change], _ budget: DiskBudget, _ source: some WriteSource) throws {
        var prepared: [Int64: PreparedBody] = [:]
        for case .store(let row) in changes where row.bodySize <= budget.largestBody {
            prepared[row.id] = PreparedBody(row, in: directory)
        }
        do {
            let bytes = prepared.values.reduce(Int64(0)) { $0 + Int64($1.data.count) + 4096 }
            let evictions = try makeRoom(for: bytes, budget, used: source.takeUsed)
            source.didEvict(evictions)
            try transaction { for change in changes { try apply(change, prepared) } }
            try removeOrphans()
            if evictions > 0 { try giveBackFreePages(budget) }
            try keepLogShort(budget)
        } catch {
            prepared.values.forEach { $0.discard() }
            throw error
        }
    }
}
