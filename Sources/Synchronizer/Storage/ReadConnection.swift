import Foundation

/// One connection that looks things up: by one thread at a time.
final class ReadConnection {
    let generation: Generation
    let database: Database
    private let entriesOfURL: Statement
    private let entry: Statement
    private let body: Statement
    private let dataVersion: Statement
    private var knownDataVersion: Int64?

    /// - Throws: `SQLiteFailure`; it is damage if the database is not one of ours.
    init(_ generation: Generation, busyTimeout: BusyTimeout) throws(SQLiteFailure) {
        self.generation = generation
        database = try Database.open(generation, busyTimeout, Schema.reading)
        entriesOfURL = try database.prepare(Schema.entriesOfURL)
        entry = try database.prepare(Schema.entry)
        body = try database.prepare(Schema.body)
        dataVersion = try database.prepare(Schema.dataVersion)
    }

    /// Whether any other connection may have changed the database since this one was last asked.
    func hasChanged() throws(SQLiteFailure) -> Bool {
        defer { dataVersion.reset() }
        let version = try dataVersion.step() ? dataVersion.integer(0) : nil
        defer { knownDataVersion = version }
        return version == nil || version != knownDataVersion
    }

    /// All that is stored for a URL, newest first; the first one that is wanted comes with its body.
    ///
    /// - Parameters:
    ///   - hasBody: whether the body of that identifier is known already, and need not be read.
    ///   - endsThere: whether what is older than the one that is wanted is of no interest.
    func rows(
        of url: String, urlKey: UInt64, wanting: ((StoredRow) -> Bool)?, hasBody: (Int64) -> Bool, endsThere: Bool
    ) throws(SQLiteFailure) -> DiskAnswer {
        defer { entriesOfURL.reset() }  // until then the body is looked up in the same state of the database
        var answer = DiskAnswer()
        var wanted: (index: Int, body: StoredBody)?
        var wanting = wanting
        var isFound = false
        entriesOfURL.bind(0, Int64(bitPattern: urlKey))
        while try entriesOfURL.step() {
            guard case .row(var row, let place) = try Self.decode(entriesOfURL, url) else {
                answer.damaged.append(entriesOfURL.integer(0))
                continue
            }
            guard row.record.isFor(url) else { continue }
            if let wants = wanting, wants(row) {
                wanting = nil
                isFound = true
                if hasBody(row.id) || place.isInFile {
                    wanted = hasBody(row.id) ? nil : (answer.rows.count, place)
                } else {
                    row.body = answer.take(try storedBody(row.id, place, entriesOfURL), of: row.id)
                }
            }
            answer.rows.append(row)
            if endsThere, isFound { break }
        }
        // No lock is held while a file is read.
        entriesOfURL.reset()
        if let (index, place) = wanted {
            let id = answer.rows[index].id
            answer.rows[index].body = answer.take(generation.bodies.read(id, place), of: id)
        }
        answer.rows.removeAll { answer.damaged.contains($0.id) }
        return answer
    }

    /// The body of the response with that identifier; `gone` if that is one of another URL than is given.
    func body(of id: Int64, _ urlKey: UInt64? = nil) throws(SQLiteFailure) -> DiskBody? {
        defer { entry.reset() }
        entry.bind(0, id)
        guard try entry.step() else { return nil }
        guard case .row(let row, let place) = try Self.decode(entry) else { return .damaged }
        guard urlKey == nil || row.urlKey == urlKey else { return nil }
        if !place.isInFile { return try storedBody(id, place, entry) }
        entry.reset()
        return generation.bodies.read(id, place)
    }

    func entryCount() throws(SQLiteFailure) -> Int {
        Int(clamping: try database.integer(Schema.countEntries))
    }

    /// The bytes of all body files.
    func bodyFileBytes() throws(SQLiteFailure) -> Int64 {
        max(0, min(try database.integer(Schema.fileBytes), 1 << 48))
    }

    /// The body of an entry that is in the database.
    ///
    /// - Parameter row: what the statement that has found the row is at.
    private func storedBody(_ id: Int64, _ place: StoredBody, _ row: Statement) throws(SQLiteFailure) -> DiskBody {
        if place.length <= Schema.largestBodyInRow { return Self.verified(try row.bytes(9), place) }
        defer { body.reset() }
        body.bind(0, id)
        guard try body.step() else { return .damaged }
        return Self.verified(try body.bytes(0), place)
    }

    private static func verified(_ bytes: UnsafeRawBufferPointer, _ place: StoredBody) -> DiskBody {
        guard bytes.count == place.length, Digest.of(bytes) == place.digest else { return .damaged }
        return .whole(Data(bytes))
    }

    enum Decoded {
        case row(StoredRow, StoredBody)
        case damaged
    }

    /// Reads the columns that `Schema.entry` and its siblings select.
    ///
    /// - Parameter url: what the row is taken to be for; `EncodedRecord.isFor(_:)` tells whether it is.
    static func decode(_ statement: Statement, _ url: String = "") throws(SQLiteFailure) -> Decoded {
        let bytes = try statement.bytes(8)
        let place = StoredBody(
            length: Int(clamping: statement.integer(5)), digest: UInt64(bitPattern: statement.integer(6)))
        let (id, urlKey) = (statement.integer(0), UInt64(bitPattern: statement.integer(1)))
        let (variant, revision) = (UInt64(bitPattern: statement.integer(2)), statement.integer(3))
        let seal = Seal.of(
            bytes, id: id, urlKey: urlKey, variant: variant, revision: revision, stored: statement.integer(4),
            body: place)
        guard UInt64(bitPattern: statement.integer(7)) == seal, let record = EncodedRecord(bytes) else {
            return .damaged
        }
        let row = StoredRow(
            id: id, url: url, urlKey: urlKey, revision: revision, stored: statement.integer(4), record: record,
            variant: variant, bodySize: place.length)
        return .row(row, place)
    }
}

/// What the disk says of a URL.
struct DiskAnswer {
    var rows: [StoredRow] = []
    /// Rows that failed their check, and are to be removed.
    var damaged: [Int64] = []
    /// Rows whose body file was gone: evicted meanwhile, or deleted by somebody.
    var missing: [Int64] = []

    fileprivate mutating func take(_ body: DiskBody, of id: Int64) -> Data? {
        switch body {
        case .whole(let data): return data
        case .damaged: damaged.append(id)
        case .missing: missing.append(id)
        case .unreadable: break
        }
        return nil
    }
}

extension Database {
    /// Opens the database of a generation, and checks that it is one of ours, and as we make it.
    static func open(
        _ generation: Generation, _ busyTimeout: BusyTimeout, _ settings: String
    ) throws(SQLiteFailure) -> Database {
        do throws(SQLiteFailure) {
            let database = try Database(path: generation.database, busyTimeout: busyTimeout)
            try database.execute(Schema.connection + settings)
            try database.execute(Schema.beginReading)
            let (version, id) = (
                try database.integer(Schema.readVersion), try database.integer(Schema.readApplicationID)
            )
            let objects = try database.texts(Schema.readObjects)
            try database.execute(Schema.commit)
            guard version == Schema.version, id == Schema.applicationID, objects == Schema.objects else {
                throw SQLiteFailure.damage("it is of version \(version) of application \(id), or has other tables")
            }
            return database
        } catch {
            throw error.whenOpening(generation)
        }
    }

    private func texts(_ sql: String) throws(SQLiteFailure) -> [String] {
        let statement = try prepare(sql)
        var texts: [String] = []
        while texts.count < 100, try statement.step() { texts.append(try statement.text(0)) }
        statement.reset()
        return texts
    }
}

extension SQLiteFailure {
    /// SQLite can't open a database with a write-ahead log here (`UnmappedFiles`), and says what it says of one that is
    /// not there.
    fileprivate func whenOpening(_ generation: Generation) -> SQLiteFailure {
        let isThere = FileSystem.status(generation.database)?.isRegularFile == true
        return isCannotOpen && isThere && systemError == ENOENT ? .damage(message) : self
    }
}
