import Foundation

/// The connection that changes the database.
final class WriteConnection {
    let directory: CacheDirectory
    let generation: Generation
    let database: Database
    private var statements: [String: Statement] = [:]
    /// The files that the transaction at hand has made, and those of the entries that it has removed.
    private var made: [Int64] = []
    private var movedAway: [Int64] = []

    /// For which capacity it is known not to be much too large.
    var checkedCapacity: Int64?

    var files: BodyFiles { generation.bodies }

    /// The generation is not in use any more.
    struct Superseded: Error {}

    /// Opens a generation that is there, and counts its files.
    init(_ directory: CacheDirectory, _ generation: Generation, busyTimeout: BusyTimeout) throws {
        self.directory = directory
        self.generation = generation
        try generation.prepare()
        database = try Database.open(generation, busyTimeout, Schema.writing)
        try checkHeader()
        try transaction { try countFiles() }
    }

    /// Refuses what a damaged header can make of the database without SQLite's calling it damage.
    private func checkHeader() throws(SQLiteFailure) {
        if database.isReadOnly, access(generation.database, W_OK) == 0 {
            throw .damage("its header says that it is for reading only")
        }
        let mode = try statement(Schema.journalMode)
        defer { mode.reset() }
        guard try mode.step(), try mode.text(0) == "delete" else {
            throw .damage("its header says that it has a write-ahead log")
        }
    }

    func statement(_ sql: String) throws(SQLiteFailure) -> Statement {
        if let known = statements[sql] { return known }
        let made = try database.prepare(sql)
        statements[sql] = made
        return made
    }

    /// Does all of it or nothing, in the generation that is in use.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        (made, movedAway) = ([], [])
        try statement(Schema.begin).run()
        let result: Result
        do {
            guard !database.hasMoved, try Generation.newest(in: directory) == generation else { throw Superseded() }
            try files.settleAll(whoseEntryExists: hasFile)
            result = try body()
            try statement(Schema.commit).run()
        } catch {
            // Some failures have rolled back already, and then this one fails, which changes nothing. The files are
            // settled or removed with the next transaction.
            try? statement(Schema.rollback).run()
            throw error
        }
        made.forEach(files.settle)
        movedAway.forEach(files.discard)
        return result
    }

    private func hasFile(_ id: Int64) throws(SQLiteFailure) -> Bool {
        let owner = try statement(Schema.fileOwner)
        defer { owner.reset() }
        owner.bind(0, id)
        return try owner.step() && owner.integer(0) > Schema.largestBodyInDatabase
    }

    func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    // MARK: - Changing, in a transaction

    func apply(_ change: Change, _ budget: DiskBudget) throws {
        switch change {
        case .store(let row):
            try removeAll(Schema.victimsOfVariant, Int64(bitPattern: row.urlKey), Int64(bitPattern: row.variant))
            try removeAll(Schema.victimsBeyond, Int64(bitPattern: row.urlKey))
            if let body = row.body, body.count <= budget.largestBody { try insert(row, body) }
        case .update(let update): try apply(update)
        case .remove(let id, _): try remove(id)
        case .removeVariant(_, let urlKey, let variant):
            try removeAll(Schema.victimsOfVariant, Int64(bitPattern: urlKey), Int64(bitPattern: variant))
        case .removeURL(_, let urlKey): try removeAll(Schema.victimsOfURL, Int64(bitPattern: urlKey))
        case .removeSince, .removeAll: break  // not in one transaction with others
        }
    }

    private func insert(_ row: StoredRow, _ data: Data) throws {
        let body = StoredBody(length: data.count, digest: data.withUnsafeBytes { Digest.of($0) })
        var id = row.id
        var tries = 0
        // Two processes hardly ever make the same identifier at once. The second takes another one.
        while try !insert(row, as: id, data, body) {
            tries += 1
            if tries == 8 { throw SQLiteFailure.damage("it takes no entries") }
            id = GrowingID.next()
        }
        if body.isInFile {
            try files.write(data, id)
            made.append(id)
            try add(fileBytes: BodyFiles.blocks(Int64(data.count)))
        } else if body.length > Schema.largestBodyInRow {
            let insertion = try statement(Schema.insertBody)
            insertion.bind(0, id)
            try insertion.run(binding: data, at: 1)
        }
    }

    /// False if there is a response with that identifier.
    private func insert(
        _ row: StoredRow, as id: Int64, _ data: Data, _ body: StoredBody
    ) throws(SQLiteFailure) -> Bool {
        let record = row.record.bytes
        let insertion = try statement(Schema.insertEntry)
        let seal = record.withUnsafeBytes {
            Seal.of(
                $0, id: id, urlKey: row.urlKey, variant: row.variant, revision: row.revision, stored: row.stored,
                body: body)
        }
        let columns = [
            id, Int64(bitPattern: row.urlKey), Int64(bitPattern: row.variant), row.revision, row.stored,
            Int64(body.length), Int64(bitPattern: body.digest), Int64(bitPattern: seal), row.stored,
        ]
        for (index, column) in columns.enumerated() { insertion.bind(index, column) }
        if body.length <= Schema.largestBodyInRow {
            try insertion.binding(data, at: 10) { () throws(SQLiteFailure) in
                try insertion.run(binding: record, at: 9)
            }
        } else {
            try insertion.run(binding: record, at: 9)
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
        let decoded = try ReadConnection.decode(selection)
        selection.reset()
        guard case .row(_, let body) = decoded else {
            try remove(update.id)
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

    // MARK: - Removing, in a transaction

    /// Removes the rows that a statement of `Schema.victims` finds.
    func removeAll(_ sql: String, _ parameters: Int64..., except kept: Int64? = nil) throws(SQLiteFailure) {
        for victim in try victims(sql, parameters) where victim.id != kept { try remove(victim.id, victim.length) }
    }

    func victims(_ sql: String, _ parameters: [Int64]) throws(SQLiteFailure) -> [(id: Int64, length: Int64)] {
        let selection = try statement(sql)
        for (index, parameter) in parameters.enumerated() { selection.bind(index, parameter) }
        var victims: [(id: Int64, length: Int64)] = []
        while try selection.step() { victims.append((selection.integer(0), selection.integer(1))) }
        return victims
    }

    /// Removes one row; returns how many there were.
    ///
    /// - Parameter length: what the row says of its body; where the row may be damaged, a large number.
    @discardableResult
    func remove(_ id: Int64, _ length: Int64 = .max) throws(SQLiteFailure) -> Int {
        try statement(Schema.deleteEntry).run(id)
        let count = database.changes
        if length > Schema.largestBodyInRow { try statement(Schema.deleteBody).run(id) }
        if length > Schema.largestBodyInDatabase {
            movedAway.append(id)
            try add(fileBytes: -files.moveAway(id))
        }
        return count
    }

    // MARK: - The bytes of all body files

    /// As the last transaction of any process has left it; nil if that number is damaged.
    func fileBytes() throws(SQLiteFailure) -> Int64? {
        let usage = try statement(Schema.fileBytes)
        defer { usage.reset() }
        guard try usage.step() else { return nil }
        let bytes = usage.integer(0)
        return bytes >= 0 && usage.integer(1) == Self.seal(bytes) ? bytes : nil
    }

    private func add(fileBytes: Int64) throws(SQLiteFailure) {
        if fileBytes == 0 { return }
        guard let before = try self.fileBytes() else { return try countFiles() }
        try set(fileBytes: max(0, before + fileBytes))
    }

    private func set(fileBytes: Int64) throws(SQLiteFailure) {
        try statement(Schema.setFileBytes).run(fileBytes, Self.seal(fileBytes))
        if database.changes != 1 { throw .damage("it keeps no count of its files") }
    }

    func countFiles() throws(SQLiteFailure) {
        try set(fileBytes: files.sweep(whoseEntryExists: hasFile))
    }

    private static func seal(_ fileBytes: Int64) -> Int64 {
        withUnsafeBytes(of: fileBytes.littleEndian) { Int64(bitPattern: Digest.of($0)) }
    }
}
