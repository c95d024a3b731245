import Foundation

/// Writes what waits in the log into the database, on one serial queue.
final class DiskWriter: @unchecked Sendable {  // `connection` and `retryAfter` are touched on `queue` only
    /// What the writer needs of the cache whose log it writes.
    struct Source: Sendable {
        /// The next changes, and how to name their end when they are written.
        let next: @Sendable (DiskBudget) -> (changes: [Change], end: Int)
        let written: @Sendable (_ end: Int, _ evictions: Int) -> Void
        /// The stores that wait can't be written.
        let giveUpStores: @Sendable () -> Void
        /// Nothing can be written: the log is to be emptied, and the disk left alone.
        let giveUp: @Sendable () -> Void
        let capacity: @Sendable () -> Int
        /// The times of use that the database does not know yet; forgets them.
        let takeUsed: @Sendable () -> [Int64: Int64]
    }

    private let directory: CacheDirectory
    private let report: @Sendable (String) -> Void
    private let queue: DispatchQueue
    private var connection: WriteConnection?

    init(_ directory: CacheDirectory, report: @escaping @Sendable (String) -> Void) {
        self.directory = directory
        self.report = report
        queue = DispatchQueue(label: "SQLiteURLCache.writer", qos: .utility)
    }

    /// Starts writing, on the queue; returns at once.
    func write(from source: Source) {
        queue.async { [self] in drain(source) }
    }

    /// Writes all that waits, the times of use too, and brings the directory down to its capacity.
    func flush(from source: Source, then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            drain(source)
            tidy(source)
            done()
        }
    }

    /// Replaces a database that a reader found damaged, unless that has happened already.
    func replaceDamaged(_ file: FileIdentity?, because reason: String) {
        queue.async { [self] in
            guard let file, FileIdentity(directory.database)?.isSameFile(as: file) == true else { return }
            reopen(condemning: reason)
        }
    }

    private func drain(_ source: Source) {
        var hasGivenUpStores = false
        while true {
            let budget = DiskBudget(capacity: source.capacity())
            let (changes, end) = source.next(budget)
            if changes.isEmpty {
                finish(budget)
                return
            }
            if let evictions = write(changes, source, budget) {
                source.written(end, evictions)
            } else if !hasGivenUpStores {
                hasGivenUpStores = true
                source.giveUpStores()
            } else {
                abandonDatabase()
                source.giveUp()
                return
            }
        }
    }

    /// What is worth doing when nothing waits any more.
    private func finish(_ budget: DiskBudget) {
        do {
            try connection?.giveBackFreePages(budget)
        } catch {
            connection = nil
        }
    }

    private func tidy(_ source: Source) {
        if connection == nil, FileIdentity(directory.database) != nil { reopen(condemning: nil) }
        guard let connection else { return }
        let budget = DiskBudget(capacity: source.capacity())
        do {
            try connection.markUsed(source.takeUsed())
            let evictions = try connection.makeRoom(for: 0, budget, used: { [:] })
            source.written(0, evictions)
            try connection.giveBackFreePages(budget)
        } catch {
            self.connection = nil
        }
    }

    /// Writes a batch, with a second try if the database had to be opened again; nil if that failed, else how many
    /// responses were evicted.
    private func write(_ changes: [Change], _ source: Source, _ budget: DiskBudget) -> Int? {
        for _ in 0..<2 {
            if connection?.isCurrent != true { reopen(condemning: nil) }
            guard let connection else { return nil }
            do {
                return try connection.write(changes, budget, used: source.takeUsed)
            } catch let failure as SQLiteFailure where failure.isDamage {
                reopen(condemning: failure.message)
            } catch let failure as SQLiteFailure where failure.isBusy {
                return nil
            } catch {
                self.connection = nil
            }
        }
        return nil
    }

    private func reopen(condemning reason: String?) {
        connection = nil
        do {
            connection = try DatabaseFile(directory: directory, report: report).open(condemning: reason)
        } catch {
            report("the cache in \(directory.path) keeps to memory: \(error)")
        }
    }

    /// What could not be removed must not come back: a cache may forget, but not remember wrongly.
    private func abandonDatabase() {
        connection = nil
        guard (try? directory.check()) != nil else { return }  // what is not ours is left alone
        for path in [directory.database, directory.writeAheadLog, directory.sharedMemory] { unlink(path) }
    }
}

extension WriteConnection {
    /// Writes a batch of changes, after making room for it; returns how many responses were evicted for that.
    fileprivate func write(_ changes: [Change], _ budget: DiskBudget, used: () -> [Int64: Int64]) throws -> Int {
        var prepared: [Int64: PreparedBody] = [:]
        for case .store(let row) in changes where row.bodySize <= budget.largestBody {
            prepared[row.id] = PreparedBody(row, in: directory)
        }
        do {
            let bytes = prepared.values.reduce(Int64(0)) { $0 + Int64($1.data.count) + 4096 }
            let evictions = try makeRoom(for: bytes, budget, used: used)
            try transaction { for change in changes { try apply(change, prepared) } }
            try keepLogShort(budget)
            return evictions
        } catch {
            prepared.values.forEach { $0.discard() }
            throw error
        }
    }
}
