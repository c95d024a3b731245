import Foundation

/// One connection that looks things up: by one thread at a time.
final class ReadConnection {
    let file: DatabaseFile
    private let identity: FileIdentity
    private let directory: CacheDirectory
    private let bodyFiles: VerifiedBodies
    private var databaseWatch: FileWatch
    private var sharedMemoryWatch: FileWatch
    /// How much had happened to files when these were last looked at.
    private var knownEvents: UInt64?
    let database: Database
    private let entriesOfURL: Statement
    private let entry: Statement
    private let body: Statement
    private let dataVersion: Statement
    private var knownDataVersion: Int64?

    /// - Throws: `SQLiteFailure`, or `ForeignDatabase` if the file is not a database of ours.
    init(_ directory: CacheDirectory, _ file: DatabaseFile, _ bodyFiles: VerifiedBodies) throws {
        self.directory = directory
        self.bodyFiles = bodyFiles
        self.file = file
        database = try Database(path: file.path, busyTimeout: 1000)
        try database.execute(Schema.connection + Schema.reading)
        try ForeignDatabase.check(database)
        guard let identity = file.identity, let databaseWatch = FileWatch(file.path),
            let sharedMemoryWatch = FileWatch(file.sharedMemory)
        else {
            throw SQLiteFailure(code: 14, message: "\(file.path) is gone")
        }
        self.identity = identity
        self.databaseWatch = databaseWatch
        self.sharedMemoryWatch = sharedMemoryWatch
        let statements = [Schema.entriesOfURL, Schema.entry, Schema.body, Schema.dataVersion]
        let prepared = try SQLiteFailure.takingErrorsForDamage { [database] () throws(SQLiteFailure) in
            try statements.map { sql throws(SQLiteFailure) in try database.prepare(sql) }
        }
        (entriesOfURL, entry, body, dataVersion) = (prepared[0], prepared[1], prepared[2], prepared[3])
    }

    /// Whether the files that are open are still in use, and not cut off: pages that are mapped beyond the end of a file
    /// would end the process. Whoever sets a database aside unlinks its shared memory.
    ///
    /// - Parameter closely: looks at them although the system has told of no change. It tells of none that another machine
    ///   has made.
    func isIntact(closely: Bool) -> Bool {
        let areCounted = databaseWatch.isCounted && sharedMemoryWatch.isCounted
        let events = areCounted ? FileEvents.shared.count : nil
        if !closely, let events, events == knownEvents { return true }
        knownEvents = events
        return databaseWatch.isIntact() && sharedMemoryWatch.isIntact()
    }

    /// Before a connection that is not intact is closed: SQLite looks into the shared memory then.
    func prepareToClose() {
        sharedMemoryWatch.growBack()
    }

    /// Whether the path still leads to the database that is open.
    var isCurrent: Bool {
        file.identity?.isSameFile(as: identity) ?? false
    }

    /// Whether anybody else may have changed the database since this connection was last asked.
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
        var wanting = wanting
        entriesOfURL.bind(0, Int64(bitPattern: urlKey))
        while try entriesOfURL.step() {
            guard case .row(var row, let place) = Self.decode(entriesOfURL, url) else {
                answer.damaged.append(entriesOfURL.integer(0))
                continue
            }
            guard row.record.isFor(url) else { continue }
            if let wants = wanting, wants(row) {
                wanting = nil
                if !hasBody(row.id) { row.body = try body(of: row.id, place, entriesOfURL, &answer) }
            }
            answer.rows.append(row)
            if endsThere, row.body != nil { break }
        }
        if !answer.damaged.isEmpty { answer.rows.removeAll { answer.damaged.contains($0.id) } }
        return answer
    }

    private func body(
        of id: Int64, _ place: StoredBody, _ row: Statement, _ answer: inout DiskAnswer
    ) throws(SQLiteFailure) -> Data? {
        switch try body(of: id, place, row) {
        case .whole(let data): return data
        case .damaged: answer.damaged.append(id)
        case .missing: answer.missing.append(id)
        }
        return nil
    }

    /// The body of the response with that identifier; missing if that is one of another URL than is given.
    func body(of id: Int64, _ urlKey: UInt64? = nil) throws(SQLiteFailure) -> DiskBody {
        defer { entry.reset() }
        entry.bind(0, id)
        guard try entry.step() else { return .missing(isStored: false) }
        guard case .row(let row, let place) = Self.decode(entry) else { return .damaged }
        guard urlKey == nil || row.urlKey == urlKey else { return .missing(isStored: false) }
        return try body(of: id, place, entry)
    }

    func entryCount() throws(SQLiteFailure) -> Int {
        Int(clamping: try database.integer(Schema.countEntries))
    }

    /// The bytes of all body files.
    func bodyFileBytes() throws(SQLiteFailure) -> Int64 {
        try database.integer(Schema.fileBytes)
    }

    /// - Parameter row: what the statement that has found the row is at.
    private func body(of id: Int64, _ place: StoredBody, _ row: Statement) throws(SQLiteFailure) -> DiskBody {
        if let file = place.bodyFile { return bodyFiles.read(file, in: directory) }
        if place.length <= Schema.largestBodyInRow { return Self.verified(row.bytes(10), place) }
        defer { body.reset() }
        body.bind(0, id)
        guard try body.step() else { return .damaged }
        return Self.verified(body.bytes(0), place)
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
    static func decode(_ statement: Statement, _ url: String = "") -> Decoded {
        let bytes = statement.bytes(9)
        let place = StoredBody(
            length: Int(clamping: statement.integer(5)), digest: UInt64(bitPattern: statement.integer(6)),
            file: statement.isNull(7) ? nil : statement.integer(7))
        let (id, urlKey) = (statement.integer(0), UInt64(bitPattern: statement.integer(1)))
        let (variant, revision) = (UInt64(bitPattern: statement.integer(2)), statement.integer(3))
        let seal = Seal.of(
            bytes, id: id, urlKey: urlKey, variant: variant, revision: revision, stored: statement.integer(4),
            body: place)
        guard UInt64(bitPattern: statement.integer(8)) == seal, let record = EncodedRecord(bytes)
        else {
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
}

enum DiskBody {
    case whole(Data)
    /// It is not there, while its row may be.
    case missing(isStored: Bool)
    case damaged
}

/// The file is a database, but not one of ours, or not of this version.
struct ForeignDatabase: Error, CustomStringConvertible {
    let version: Int64
    let applicationID: Int64
    let tables: Int64

    /// Whether there is nothing in it at all.
    var isEmpty: Bool { version == 0 && tables == 0 }

    var description: String { "it is of version \(version) of application \(applicationID)" }

    static func check(_ database: Database) throws {
        let found = try SQLiteFailure.takingErrorsForDamage { () throws(SQLiteFailure) in
            // In one transaction: another process may be making it at the moment.
            try database.execute(Schema.beginReading)
            let found = ForeignDatabase(
                version: try database.integer(Schema.readVersion),
                applicationID: try database.integer(Schema.readApplicationID),
                tables: try database.integer(Schema.countTables))
            try database.execute(Schema.commit)
            return found
        }
        guard found.version == Schema.version, found.applicationID == Schema.applicationID else { throw found }
    }
}
