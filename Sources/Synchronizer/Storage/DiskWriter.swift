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
    /// Nothing can be written for now. What waits to be removed still counts as removed; returns whether anything does.
    func giveUpDisk() -> Bool
    /// The database is gone.
    func forgetDisk()
    /// The times of use that the database does not know yet; forgets them.
    func takeUsed() -> [Int64: Int64]
    /// They could not be written.
    func giveBack(used: [Int64: Int64])
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
    private let maker: DatabaseMaker
    private let didOpen: @Sendable (DatabaseFile) -> Void
    private let queue = DispatchQueue(label: "SQLiteURLCache.writer", qos: .utility)
    private var connection: WriteConnection?
    /// Whether something was written since the database was last at rest.
    private var isRestless = false
    private var hasReportedFailure = false
    /// The database that a reader has complained of.
    private var doubted: FileIdentity?
    /// How often to try again while another process holds the lock, which takes some ten seconds each time. One that has
    /// been stopped may hold it for good.
    private let patience = 5

    /// - Parameters:
    ///   - report: told what users should know, in one line.
    ///   - didOpen: told of each database that is used from then on.
    ///   - lockTimeout: for how many milliseconds to wait at a time while another process writes.
    init(
        _ directory: CacheDirectory, report: @escaping @Sendable (String) -> Void,
        didOpen: @escaping @Sendable (DatabaseFile) -> Void = { _ in }, lockTimeout: Int32 = 10_000
    ) {
        self.directory = directory
        self.didOpen = didOpen
        maker = DatabaseMaker(directory: directory, lockTimeout: lockTimeout, report: report)
    }

    /// Writes what waits; returns at once.
    func write(from source: some WriteSource, then done: @escaping @Sendable () -> Void = {}) {
        queue.async { [self] in drain(source, patience, then: done) }
    }

    /// Writes what waits and the times of use, and brings the directory down to its capacity.
    func flush(from source: some WriteSource, then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            drain(source, patience) { [self] in
                tidy(source)
                done()
            }
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

    private func drain(_ source: some WriteSource, _ patience: Int, then done: @escaping @Sendable () -> Void) {
        var hasGivenUpStores = false
        while true {
            let budget = DiskBudget(capacity: source.diskCapacity)
            let (changes, end) = source.nextBatch(budget)
            if changes.isEmpty { break }
            switch write(changes, source, budget) {
            case .done:
                hasGivenUpStores = false
                if changes.contains(where: \.isStore) { hasReportedFailure = false }
                source.didWrite(before: end)
            case .busy where patience > 0:
                queue.asyncAfter(deadline: .now() + 1) { [self] in drain(source, patience - 1, then: done) }
                return
            case .busy, .failed:
                if hasGivenUpStores {
                    if source.giveUpDisk(), abandonDatabase() { source.forgetDisk() }
                    return done()
                }
                hasGivenUpStores = true
                source.giveUpStores()
            }
        }
        restSoon(source)
        done()
    }

    /// Writes a batch, with a second try if the database had to be opened again.
    private func write(_ changes: [Change], _ source: some WriteSource, _ budget: DiskBudget) -> Outcome {
        if connection == nil, DatabaseFile.isMissing(in: directory), !changes.contains(where: \.isStore) {
            return .done  // nothing is there that could be removed
        }
        for isLastTry in [false, true] {
            if connection?.isCurrent != true { reopen(reporting: isLastTry) }
            guard let connection else { continue }
            do {
                try connection.write(changes, budget, source)
                // They are in the database now, whatever comes of the rest.
                attempt(connection) { try connection.cleanUp(budget) }
                return .done
            } catch let failure as SQLiteFailure where failure.isDamage {
                reopen(condemning: (connection.file, failure.message))
            } catch let failure as SQLiteFailure where failure.isBusy {
                return .busy
            } catch {
                self.connection = nil
                if isLastTry { reportFailure(error) }
            }
        }
        return .failed
    }

    private func tidy(_ source: some WriteSource) {
        if connection == nil, source.diskCapacity > 0, DatabaseFile.current(in: directory) != nil { reopen() }
        guard let connection, connection.isCurrent else { return }
        let budget = DiskBudget(capacity: source.diskCapacity)
        attempt(connection) {
            try connection.markUsed(from: source, budget)
            source.didEvict(try connection.makeRoom(budget, marking: {}))
            try rest(connection, budget)
        }
    }

    /// Does what can as well be done later: with the next batch, or when the database is next at rest.
    private func attempt(_ connection: WriteConnection, _ body: () throws -> Void) {
        do {
            try body()
        } catch let failure as SQLiteFailure where failure.isBusy {
            return
        } catch let failure as SQLiteFailure where failure.isDamage {
            reopen(condemning: (connection.file, failure.message))
        } catch {
            self.connection = nil
            reportFailure(error)
        }
    }

    /// Once nothing has been written for a second, the log goes into the database: then readers find everything in
    /// memory-mapped pages, and need not search the log for each.
    private func restSoon(_ source: some WriteSource) {
        if isRestless { return }
        isRestless = true
        let written = connection?.writes
        queue.asyncAfter(deadline: .now() + 1) { [weak self, weak source] in
            guard let self, let source else { return }
            isRestless = false
            guard let connection, connection.isCurrent else { return }
            if connection.writes != written { return restSoon(source) }
            attempt(connection) { try self.rest(connection, DiskBudget(capacity: source.diskCapacity)) }
        }
    }

    private func rest(_ connection: WriteConnection, _ budget: DiskBudget) throws {
        try connection.removeStrayFiles()
        try connection.giveBackFreePages(budget)
        try connection.database.checkpoint(truncating: false)
        try connection.keepLogShort(budget)
    }

    private func reopen(
        condemning condemned: (file: DatabaseFile, reason: String)? = nil, reporting reports: Bool = true
    ) {
        connection = nil
        do {
            let opened = try maker.open(condemning: condemned)
            connection = opened
            didOpen(opened.file)
        } catch {
            if reports { reportFailure(error) }
        }
    }

    private func reportFailure(_ error: any Error) {
        if hasReportedFailure { return }
        hasReportedFailure = true
        maker.report("the cache in \(directory.path) keeps to memory: \(error)")
    }

    /// What could not be removed must not come back: a cache may forget, but not remember wrongly.
    /// Returns whether there is no database now.
    private func abandonDatabase() -> Bool {
        connection = nil
        guard (try? directory.check()) != nil else { return false }  // what is not ours is left alone
        DatabaseFile.current(in: directory)?.remove()
        return DatabaseFile.isMissing(in: directory)
    }
}

extension WriteConnection {
    /// Writes a batch of changes, after making room for it.
    fileprivate func write(_ changes: [Change], _ budget: DiskBudget, _ source: some WriteSource) throws {
        var bodies: [(id: Int64, data: Data)] = []
        for case .store(let row) in changes where row.bodySize <= budget.largestBody {
            if let body = row.body { bodies.append((row.id, body)) }
        }
        let large = bodies.filter { $0.data.count > Self.largestBodyInDatabase }
        source.didEvict(
            try makeRoom(for: Self.bytes(of: bodies), inFiles: Self.bytes(of: large), budget) {
                try markUsed(from: source, budget)
            })
        var prepared: [Int64: PreparedBody] = [:]
        do {
            for (id, data) in bodies { prepared[id] = try PreparedBody(data, of: id, in: directory) }
            try transaction { for change in changes { try apply(change, prepared) } }
        } catch {
            prepared.values.forEach { $0.discard() }
            throw error
        }
    }

    /// What follows a batch, and can as well follow the next one.
    fileprivate func cleanUp(_ budget: DiskBudget) throws {
        try removeOrphans()
        try keepLogShort(budget)
    }

    private static func bytes(of bodies: [(id: Int64, data: Data)]) -> Int64 {
        bodies.reduce(0) { $0 + Int64($1.data.count) + 4096 }
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
