import Foundation
import SynchronizerSupport

/// A connection for lookups. Only one thread at a time may use it.
///
/// A connection without locks is faster, because locking takes longer than a lookup. It still reads one committed state of the
/// database. While a writer changes pages, it has a journal, and each of its changes leaves another stamp on the file. If there
/// is no journal after the stamp was read, and the stamp is the same at the end, no page has changed in between.
final class ReadConnection: @unchecked Sendable {  // only one thread at a time uses it
    let generation: Generation
    let locks: Bool
    let database: Database
    let directory: OpenDirectory
    private let verified: VerifiedFiles
    /// The status of the database's file when it was opened.
    private let file: stat
    private var knownDataVersion: Int64?

    /// - Throws: a failure with `isCorruption` if the database is not one of ours.
    init(
        generation: Generation, busyTimeout: BusyTimeout, locks: Bool = true, verified: VerifiedFiles = VerifiedFiles(),
        stampsFiles: (Int32) -> Bool = FileClock.stampsFiles
    ) throws(SQLiteFailure) {
        self.generation = generation
        self.verified = verified
        self.locks = locks
        directory = try OpenDirectory(generation.path)
        guard let file = directory.status("Database") else { throw .system(generation.database) }
        self.file = file
        if !locks {
            guard stampsFiles(directory.descriptor) else { throw .busy }
            _ = try directory.quietStamp(of: file)
        }
        database = try Database.open(generation, busyTimeout: busyTimeout, settings: Schema.reading, locks: locks)
        try inOneState { () throws(SQLiteFailure) in try database.checkSchema(of: generation) }
    }

    /// Reads one committed state of the database.
    ///
    /// - Throws: `.busy` if a writer is or was at work: then read with locks. After any other failure a connection without locks
    ///   must not be used again, because it may have cached pages of several states.
    func inOneState<Result>(_ read: () throws(SQLiteFailure) -> Result) throws(SQLiteFailure) -> Result {
        if locks { return try read() }
        let stamp = try directory.quietStamp(of: file)
        let result = try read()
        if directory.status("Database").map(FileStamp.init) == stamp { return result }
        throw database.forgetPages() ? .busy : .changedDuringRead
    }

    /// Whether another connection may have changed the database since the last call.
    func hasChanged() throws(SQLiteFailure) -> Bool {
        let version = try inOneState { () throws(SQLiteFailure) in
            let dataVersion = try database.statement(Schema.dataVersion)
            defer { dataVersion.reset() }
            return try dataVersion.step() ? dataVersion.integer() : nil
        }
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
        var result = LookupResult()
        var inFile: (index: Int, body: StoredBody)?
        try inOneState { () throws(SQLiteFailure) in
            let entries = try database.statement(Schema.entriesOfURL)
            defer { entries.reset() }  // ends the read transaction, after the body was read in it
            var wanting = wanting
            entries.bind(Int64(bitPattern: urlKey), at: 0)
            while try entries.step() {
                guard let found = try DecodedRow(entries, url: url) else {
                    try result.add(corrupt: entries.integer(Schema.Entry.id), isCertain: locks)
                    continue
                }
                var row = found.row
                guard row.record.isFor(url) else { continue }
                let isWanted = wanting?(row) ?? false
                if isWanted {
                    wanting = nil
                    if !hasBody(row.id), found.body.isInFile { inFile = (result.rows.count, found.body) }
                    if !hasBody(row.id), !found.body.isInFile {
                        let body = try storedBody(of: row.id, place: found.body, row: entries)
                        row.body = try result.take(body, of: row.id, isCertain: locks)
                    }
                }
                result.rows.append(row)
                if endsThere, isWanted { break }
            }
        }
        if let (index, place) = inFile {
            let id = result.rows[index].id
            result.rows[index].body = try result.take(file(of: id, expecting: place), of: id)
        }
        if !result.corrupt.isEmpty { result.rows.removeAll { result.corrupt.contains($0.id) } }
        return result
    }

    /// The body of the entry with that identifier; nil if there is no such entry, or if it belongs to another URL.
    func body(of id: Int64, urlKey: UInt64? = nil) throws(SQLiteFailure) -> BodyReadResult? {
        var inFile: StoredBody?
        let result: BodyReadResult? = try inOneState { () throws(SQLiteFailure) in
            let entry = try database.statement(Schema.entry)
            defer { entry.reset() }
            entry.bind(id, at: 0)
            guard try entry.step() else { return nil }
            guard let found = try DecodedRow(entry) else { return .corrupt }
            guard urlKey == nil || found.row.urlKey == urlKey else { return nil }
            if found.body.isInFile { inFile = found.body }
            return found.body.isInFile ? nil : try storedBody(of: id, place: found.body, row: entry)
        }
        if let inFile { return file(of: id, expecting: inFile) }
        if case .corrupt = result, !locks { throw .changedDuringRead }
        return result
    }

    /// The file of the body with that identifier; nil if there is no such entry, or its body is in the database.
    func bodyFile(of id: Int64, urlKey: UInt64) throws(SQLiteFailure) -> BodyResult<BodyFile>? {
        var found: DecodedRow?
        let exists = try inOneState { () throws(SQLiteFailure) in
            let entry = try database.statement(Schema.entry)
            defer { entry.reset() }
            entry.bind(id, at: 0)
            guard try entry.step() else { return false }
            found = try DecodedRow(entry)
            return true
        }
        guard exists else { return nil }
        guard let found else {
            if locks { return .corrupt }
            throw .changedDuringRead  // a connection with locks reads it again
        }
        guard found.row.urlKey == urlKey, found.body.isInFile else { return nil }
        return BodyFiles.openFile(id, expecting: found.body, in: directory, at: generation.bodies.paths(id))
    }

    /// Reads a body that is in a file, and compares its length and checksum with those in the database.
    func file(of id: Int64, expecting body: StoredBody) -> BodyReadResult {
        BodyFiles.read(id, expecting: body, in: directory, verified: verified)
    }

    func entryCount() throws(SQLiteFailure) -> Int {
        Int(clamping: try inOneState { () throws(SQLiteFailure) in try database.integer(Schema.countEntries) })
    }

    /// The bytes of all body files.
    func bodyFileBytes() throws(SQLiteFailure) -> Int64 {
        let bytes = try inOneState { () throws(SQLiteFailure) in try database.integer(Schema.fileBytes) }
        return max(0, min(bytes, Int64(1) << 48))
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
        let body = try database.statement(Schema.body)
        defer { body.reset() }
        body.bind(id, at: 0)
        guard try body.step() else { return .corrupt }
        return Self.verified(try body.bytes(), expecting: place)
    }

    private static func verified(_ bytes: UnsafeRawBufferPointer, expecting place: StoredBody) -> BodyReadResult {
        guard bytes.count == place.length, Checksum64.of(bytes) == place.checksum else { return .corrupt }
        return .complete(Data(bytes))
    }
}

/// A row of the database whose checksum has been verified.
struct DecodedRow {
    let row: StoredRow
    let body: StoredBody

    /// Decodes the columns of `Schema.Entry`; nil if they are corrupt.
    ///
    /// - Parameter url: the URL of the lookup. `EncodedRecord.isFor(_:)` tells whether the row belongs to this URL.
    init?(_ statement: Statement, url: String = "") throws(SQLiteFailure) {
        typealias Entry = Schema.Entry
        let bytes = try statement.bytes(Entry.record)
        body = StoredBody(
            length: Int(clamping: statement.integer(Entry.length)),
            checksum: UInt64(bitPattern: statement.integer(Entry.bodyChecksum)))
        let (id, urlKey) = (statement.integer(Entry.id), UInt64(bitPattern: statement.integer(Entry.urlKey)))
        let variant = UInt64(bitPattern: statement.integer(Entry.variant))
        let (revision, stored) = (statement.integer(Entry.revision), statement.integer(Entry.stored))
        let checksum = RowChecksum.of(
            record: bytes, id: id, urlKey: urlKey, variant: variant, revision: revision, stored: stored, body: body)
        guard UInt64(bitPattern: statement.integer(Entry.rowChecksum)) == checksum,
            let record = EncodedRecord(bytes)
        else { return nil }
        row = StoredRow(
            id: id, url: url, urlKey: urlKey, revision: revision, stored: stored, record: record, variant: variant,
            bodySize: body.length, bodyChecksum: body.checksum)
    }
}

/// What the disk has for a URL.
struct LookupResult {
    var rows: [StoredRow] = []
    /// The entries that failed their check, which must be removed.
    var corrupt: [Int64] = []
    /// The entries whose body file does not exist: evicted a moment ago, or deleted by another program.
    var missing: [Int64] = []

    /// - Parameter isCertain: false if the entry was read without a lock. Then a connection with locks must read it again.
    fileprivate mutating func add(corrupt id: Int64, isCertain: Bool) throws(SQLiteFailure) {
        if !isCertain { throw .changedDuringRead }
        corrupt.append(id)
    }

    fileprivate mutating func take(
        _ body: BodyReadResult, of id: Int64, isCertain: Bool = true
    ) throws(SQLiteFailure) -> Data? {
        switch body {
        case .complete(let data): return data
        case .corrupt: try add(corrupt: id, isCertain: isCertain)
        case .missing: missing.append(id)
        case .unreadable: break
        }
        return nil
    }
}

extension OpenDirectory {
    /// The stamp of the database. Throws unless no writer is at work and each later change will leave another stamp.
    ///
    /// - Parameter file: the status of the database when it was opened.
    fileprivate func quietStamp(of file: stat) throws(SQLiteFailure) -> FileStamp {
        let now = FileStamp.now()
        guard let status = status("Database"), status.isSameFile(as: file) else { throw .changedDuringRead }
        let stamp = FileStamp(status)
        guard stamp.isSettled(at: now), self.status("Database-journal") == nil, errno == ENOENT else { throw .busy }
        return stamp
    }
}

extension Database {
    /// Opens the database of a generation.
    static func open(
        _ generation: Generation, busyTimeout: BusyTimeout, settings: String, locks: Bool = true
    ) throws(SQLiteFailure) -> Database {
        do throws(SQLiteFailure) {
            let database = try Database(path: generation.database, busyTimeout: busyTimeout, locks: locks)
            try database.execute(Schema.connection + settings)
            return database
        } catch {
            throw error.whenOpening(generation)
        }
    }

    /// Checks that the database has our application ID, version and tables.
    func checkSchema(of generation: Generation) throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            try execute(Schema.beginReading)
            let version = try integer(Schema.readVersion)
            let application = try integer(Schema.readApplicationID)
            let objects = try texts(Schema.readObjects)
            try execute(Schema.commit)
            guard version == Schema.version, application == Schema.applicationID, objects == Schema.objects else {
                throw SQLiteFailure.corruption(
                    "it has version \(version) and application \(application), or other tables")
            }
        } catch {
            throw error.whenOpening(generation)
        }
    }
}

extension SQLiteFailure {
    /// The failure, or a corruption if the header of the database asks for a write-ahead log. SQLite can't open one here
    /// (`UnmappedFiles`), and fails as if the database did not exist.
    fileprivate func whenOpening(_ generation: Generation) -> SQLiteFailure {
        let exists = FileSystem.status(generation.database)?.isRegularFile == true
        return isCannotOpen && exists && systemError == ENOENT ? .corruption(message) : self
    }
}
