import Foundation

/// The connection that changes the database.
final class WriteConnection {
    let directory: CacheDirectory
    let file: DatabaseFile
    let database: Database
    private let identity: FileIdentity
    private var statements: [String: Statement] = [:]
    /// Body files whose rows were removed.
    var orphans: Set<BodyFile> = []
    var hasLookedForStrayFiles = false
    /// The bytes of all body files, and as of which `Schema.dataVersion`.
    var knownFileBytes: (version: Int64, bytes: Int64)?
    /// How many transactions there were.
    private(set) var writes = 0

    /// Bodies up to this size are in the database, larger ones in files. Measured (Documentation/Storage.md): files are
    /// looked up faster from about 90 KB on, and stored faster from about 100 KB on. From 64 KB on neither is a fifth
    /// faster than the other, and a file goes without pages that have to be moved when the database shrinks.
    static let largestBodyInDatabase = 64 << 10

    /// Opens a database that is there.
    init(_ directory: CacheDirectory, _ file: DatabaseFile, lockTimeout: Int32) throws {
        guard let identity = file.identity else {
            throw SQLiteFailure(code: 14, message: "\(file.path) is gone")
        }
        self.directory = directory
        self.file = file
        self.identity = identity
        try file.check()
        database = try Database(path: file.path, busyTimeout: lockTimeout)
        try SQLiteFailure.takingErrorsForDamage { [database] () throws(SQLiteFailure) in
            try database.execute(Schema.connection + Schema.writing)
        }
        try ForeignDatabase.check(database)
        try checkHeader()
    }

    /// Refuses what a damaged header can make of the database without SQLite's calling it damage.
    private func checkHeader() throws(SQLiteFailure) {
        if database.isReadOnly, access(file.path, W_OK) == 0 {
            throw SQLiteFailure(code: 26, message: "its header says that it is for reading only")
        }
        let mode = try statement(Schema.journalMode)
        defer { mode.reset() }
        guard try mode.step(), String(decoding: mode.bytes(0), as: UTF8.self) == "wal" else {
            throw SQLiteFailure(code: 26, message: "its header says that it has no write-ahead log")
        }
    }

    /// Whether the path still leads to the file that is open.
    var isCurrent: Bool {
        file.identity?.isSameFile(as: identity) ?? false
    }

    /// Whether the structure of the database passes SQLite's check, which reads all of it.
    func isSound() throws(SQLiteFailure) -> Bool {
        let check = try statement(Schema.integrityCheck)
        defer { check.reset() }
        return try check.step() && String(decoding: check.bytes(0), as: UTF8.self) == "ok"
    }

    func statement(_ sql: String) throws(SQLiteFailure) -> Statement {
        if let known = statements[sql] { return known }
        let made = try database.prepare(sql)
        statements[sql] = made
        return made
    }

    /// Does all of it or nothing.
    func transaction(_ body: () throws -> Void) throws {
        try statement(Schema.begin).run()
        do {
            try body()
            try statement(Schema.commit).run()
            writes += 1
        } catch {
            // Some failures have rolled back already, and then this one fails, which changes nothing.
            try? statement(Schema.rollback).run()
            knownFileBytes = nil
            throw error
        }
    }

    func apply(_ change: Change, _ prepared: [Int64: PreparedBody]) throws(SQLiteFailure) {
        switch change {
        case .store(let row):
            try removeAll(Schema.victimsOfVariant, Int64(bitPattern: row.urlKey), Int64(bitPattern: row.variant))
            try removeAll(Schema.victimsBeyond, Int64(bitPattern: row.urlKey))
            if let body = prepared[row.id] { try insert(row, body) }  // none is too large for the disk
        case .update(let update): try apply(update)
        case .remove(let id, _): try removeAll(Schema.victim, id)
        case .removeVariant(_, let urlKey, let variant):
            try removeAll(Schema.victimsOfVariant, Int64(bitPattern: urlKey), Int64(bitPattern: variant))
        case .removeURL(_, let urlKey): try removeAll(Schema.victimsOfURL, Int64(bitPattern: urlKey))
        case .removeSince(let moment): try removeAll(Schema.victimsSince, moment)
        case .removeAll: try removeEverything()
        }
    }

    private func insert(_ row: StoredRow, _ prepared: PreparedBody) throws(SQLiteFailure) {
        let body = try prepared.settle(in: self)
        var id = row.id
        // Two processes hardly ever make the same identifier at once. Whoever comes second takes another one.
        while try !insert(row, as: id, prepared.data, body) { id = GrowingID.next() }
        guard body.file == nil, body.length > Schema.largestBodyInRow else { return }
        let insertion = try statement(Schema.insertBody)
        insertion.bind(0, id)
        try insertion.run(binding: prepared.data, at: 1)
    }

    /// False if there is a response with that identifier.
    private func insert(
        _ row: StoredRow, as id: Int64, _ data: Data, _ body: StoredBody
    ) throws(SQLiteFailure) -> Bool {
        let record = row.record.bytes
        let size = Int64(record.count + 200) + Int64(body.length)
        let insertion = try statement(Schema.insertEntry)
        let seal = record.withUnsafeBytes {
            Seal.of(
                $0, id: id, urlKey: row.urlKey, variant: row.variant, revision: row.revision, stored: row.stored,
                body: body)
        }
        let columns: [Int64?] = [
            id, Int64(bitPattern: row.urlKey), Int64(bitPattern: row.variant), row.revision, row.stored,
            Int64(body.length), Int64(bitPattern: body.digest), body.file, Int64(bitPattern: seal), row.stored, size,
        ]
        for (index, column) in columns.enumerated() { insertion.bind(index, column) }
        if body.length <= Schema.largestBodyInRow {
            try insertion.binding(data, at: 12) { () throws(SQLiteFailure) in
                try insertion.run(binding: record, at: 11)
            }
        } else {
            try insertion.run(binding: record, at: 11)
        }
        return database.changes == 1
    }

    private func apply(_ update: RowUpdate) throws(SQLiteFailure) {
        let selection = try statement(Schema.entry)
        selection.bind(0, update.id)
        let (urlKey, variant) = (Int64(bitPattern: update.urlKey), Int64(bitPattern: update.variant))
        guard try selection.step() else {
            try removeAll(Schema.victimsOfVariant, urlKey, variant)
            return
        }
        let decoded = ReadConnection.decode(selection)
        selection.reset()
        guard case .row(_, let body) = decoded else {
            try removeAll(Schema.victim, update.id)
            return
        }
        try removeAll(Schema.victimsOfVariant, urlKey, variant, except: update.id)
        let seal = update.record.bytes.withUnsafeBytes {
            Seal.of(
                $0, id: update.id, urlKey: update.urlKey, variant: update.variant, revision: update.revision,
                stored: update.stored, body: body)
        }
        let change = try statement(Schema.updateEntry)
        let columns = [update.id, variant, update.revision, update.stored, Int64(bitPattern: seal)]
        for (index, column) in columns.enumerated() { change.bind(index, column) }
        try change.run(binding: update.record.bytes, at: 5)
    }
}

extension Statement {
    /// Runs a statement of no rows, with bytes that it need not copy.
    func run(binding bytes: some ContiguousBytes, at index: Int) throws(SQLiteFailure) {
        try binding(bytes, at: index) { () throws(SQLiteFailure) in while try step() {} }
    }

    /// Binds bytes while `body` runs the statement, and NULL after that.
    func binding(
        _ bytes: some ContiguousBytes, at index: Int, _ body: () throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        var outcome: Result<Void, SQLiteFailure> = .success(())
        bytes.withUnsafeBytes { buffer in
            bind(index, buffer)
            do throws(SQLiteFailure) {
                try body()
            } catch {
                outcome = .failure(error)
            }
            bind(index, nil)
        }
        try outcome.get()
    }
}
