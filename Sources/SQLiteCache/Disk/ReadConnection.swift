import Foundation
import SynchronizerSupport

/// One connection for lookups, which one thread at a time may use.
final class ReadConnection {
    let generation: Generation
    let database: Database
    private let entriesOfURL: Statement
    let entry: Statement
    private let body: Statement
    private let dataVersion: Statement
    private var knownDataVersion: Int64?

    /// - Throws: `SQLiteFailure`, which is a corruption if the database is not one of ours.
    init(generation: Generation, busyTimeout: BusyTimeout) throws(SQLiteFailure) {
        self.generation = generation
        database = try Database.open(generation, busyTimeout: busyTimeout, settings: Schema.reading)
        entriesOfURL = try database.prepare(Schema.entriesOfURL)
        entry = try database.prepare(Schema.entry)
        body = try database.prepare(Schema.body)
        dataVersion = try database.prepare(Schema.dataVersion)
    }

    /// Whether another connection may have changed the database since the last call.
    func hasChanged() throws(SQLiteFailure) -> Bool {
        defer { dataVersion.reset() }
        let version = try dataVersion.step() ? dataVersion.integer(.only) : nil
        defer { knownDataVersion = version }
        return version == nil || version != knownDataVersion
    }

    /// All responses that are stored for a URL, newest first. The first wanted one comes with its body.
    ///
    /// - Parameters:
    ///   - hasBody: whether the caller has the body of that identifier already.
    ///   - endsThere: whether the rows after the wanted one are not needed.
    func rows(
        of url: String, urlKey: UInt64, wanting: ((StoredRow) -> Bool)?, hasBody: (Int64) -> Bool, endsThere: Bool
    ) throws(SQLiteFailure) -> LookupResult {
        defer { entriesOfURL.reset() }  // until then the body is looked up in the same state of the database
        var result = LookupResult()
        var wanted: (index: Int, body: StoredBody)?
        var wanting = wanting
        var isFound = false
        entriesOfURL.bind(Int64(bitPattern: urlKey), at: 0)
        while try entriesOfURL.step() {
            guard case .row(var row, let place) = try DecodedRow(entriesOfURL, url: url) else {
                result.corrupt.append(entriesOfURL.integer(Schema.Entry.id))
                continue
            }
            guard row.record.isFor(url) else { continue }
            if let wants = wanting, wants(row) {
                wanting = nil
                isFound = true
                if hasBody(row.id) || place.isInFile {
                    wanted = hasBody(row.id) ? nil : (result.rows.count, place)
                } else {
                    row.body = result.take(try storedBody(of: row.id, place: place, row: entriesOfURL), of: row.id)
                }
            }
            result.rows.append(row)
            if endsThere, isFound { break }
        }
        // Reading a file must not hold a lock.
        entriesOfURL.reset()
        if let (index, place) = wanted {
            let id = result.rows[index].id
            result.rows[index].body = result.take(generation.bodies.read(id, expecting: place), of: id)
        }
        result.rows.removeAll { result.corrupt.contains($0.id) }
        return result
    }

    /// The body of the response with that identifier; nil if there is none, or it belongs to another URL.
    func body(of id: Int64, urlKey: UInt64? = nil) throws(SQLiteFailure) -> BodyReadResult? {
        defer { entry.reset() }
        entry.bind(id, at: 0)
        guard try entry.step() else { return nil }
        guard case .row(let row, let place) = try DecodedRow(entry) else { return .corrupt }
        guard urlKey == nil || row.urlKey == urlKey else { return nil }
        if !place.isInFile { return try storedBody(of: id, place: place, row: entry) }
        entry.reset()
        return generation.bodies.read(id, expecting: place)
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
    /// - Parameter row: the statement that is at the entry.
    private func storedBody(
        of id: Int64, place: StoredBody, row: Statement
    ) throws(SQLiteFailure) -> BodyReadResult {
        if place.length <= StoredBody.largestInRow {
            return Self.verified(try row.bytes(Schema.Entry.body), expecting: place)
        }
        defer { body.reset() }
        body.bind(id, at: 0)
        guard try body.step() else { return .corrupt }
        return Self.verified(try body.bytes(.only), expecting: place)
    }

    private static func verified(_ bytes: UnsafeRawBufferPointer, expecting place: StoredBody) -> BodyReadResult {
        guard bytes.count == place.length, Checksum64.of(bytes) == place.checksum else { return .corrupt }
        return .complete(Data(bytes))
    }
}

/// A row of the database whose checksum has been verified.
enum DecodedRow {
    case row(StoredRow, StoredBody)
    case corrupt

    /// Decodes the columns of `Schema.Entry`.
    ///
    /// - Parameter url: the URL that the row is looked up for. `EncodedRecord.isFor(_:)` tells whether it belongs to it.
    init(_ statement: Statement, url: String = "") throws(SQLiteFailure) {
        typealias Entry = Schema.Entry
        let bytes = try statement.bytes(Entry.record)
        let body = StoredBody(
            length: Int(clamping: statement.integer(Entry.length)),
            checksum: UInt64(bitPattern: statement.integer(Entry.bodyChecksum)))
        let (id, urlKey) = (statement.integer(Entry.id), UInt64(bitPattern: statement.integer(Entry.urlKey)))
        let variant = UInt64(bitPattern: statement.integer(Entry.variant))
        let (revision, stored) = (statement.integer(Entry.revision), statement.integer(Entry.stored))
        let checksum = RowChecksum.of(
            record: bytes, id: id, urlKey: urlKey, variant: variant, revision: revision, stored: stored, body: body)
        guard UInt64(bitPattern: statement.integer(Entry.rowChecksum)) == checksum,
            let record = EncodedRecord(bytes)
        else {
            self = .corrupt
            return
        }
        let row = StoredRow(
            id: id, url: url, urlKey: urlKey, revision: revision, stored: stored, record: record, variant: variant,
            bodySize: body.length)
        self = .row(row, body)
    }
}

/// What the disk has for a URL.
struct LookupResult {
    var rows: [StoredRow] = []
    /// The entries that failed their check, which must be removed.
    var corrupt: [Int64] = []
    /// The entries whose body file does not exist: evicted a moment ago, or deleted by another program.
    var missing: [Int64] = []

    fileprivate mutating func take(_ body: BodyReadResult, of id: Int64) -> Data? {
        switch body {
        case .complete(let data): return data
        case .corrupt: corrupt.append(id)
        case .missing: missing.append(id)
        case .unreadable: break
        }
        return nil
    }
}

extension Database {
    /// Opens the database of a generation, and checks that its version and tables are ours.
    static func open(
        _ generation: Generation, busyTimeout: BusyTimeout, settings: String
    ) throws(SQLiteFailure) -> Database {
        do throws(SQLiteFailure) {
            let database = try Database(path: generation.database, busyTimeout: busyTimeout)
            try database.execute(Schema.connection + settings)
            try database.execute(Schema.beginReading)
            let version = try database.integer(Schema.readVersion)
            let application = try database.integer(Schema.readApplicationID)
            let objects = try database.texts(Schema.readObjects)
            try database.execute(Schema.commit)
            guard version == Schema.version, application == Schema.applicationID, objects == Schema.objects else {
                throw SQLiteFailure.corruption(
                    "it has version \(version) and application \(application), or other tables")
            }
            return database
        } catch {
            throw error.whenOpening(generation)
        }
    }
}

extension SQLiteFailure {
    /// If a header asks for a write-ahead log, which SQLite can't open here (`UnmappedFiles`), the failure looks as if the
    /// file were missing.
    fileprivate func whenOpening(_ generation: Generation) -> SQLiteFailure {
        let exists = FileSystem.status(generation.database)?.isRegularFile == true
        return isCannotOpen && exists && systemError == ENOENT ? .corruption(message) : self
    }
}
