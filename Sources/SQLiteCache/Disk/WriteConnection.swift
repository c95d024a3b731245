import Foundation
import SynchronizerSupport

/// The connection that changes the database.
final class WriteConnection {
    let directory: CacheDirectory
    let generation: Generation
    let database: Database
    private let hasJournal: Bool
    private var statements: [String: Statement] = [:]
    /// The files that the current transaction has made, by identifier.
    private var made: [Int64] = []
    /// The files in `made` whose bodies have arrived in the cache, and where they were.
    private var adopted: [(id: Int64, path: String)] = []
    /// The files of the entries that the current transaction has removed, by identifier.
    private var movedAway: [Int64] = []

    /// Whether the current transaction has found files that a killed process has left.
    private var hasFoundLeftovers = false
    /// Whether the current transaction has removed an entry whose body file was missing, or had another length. Then the number in
    /// `usage` is wrong.
    private var mustCountFiles = false

    /// The capacity for which `shrink` has checked the usage.
    var checkedCapacity: Int64?
    /// Whether another generation has replaced this one.
    var isReplaced = false

    var files: BodyFiles { generation.bodies }

    /// The generation is not in use any more.
    struct Superseded: Error {}

    /// Opens an existing generation. Checks every body file only if files may be missing, or may have no entry: this takes seconds
    /// for a million files.
    ///
    /// - Parameter hasJournal: false to keep the journal in memory, because a full disk has no room for it. Then the database
    ///   becomes corrupt if the process ends during a commit.
    init(
        directory: CacheDirectory, generation: Generation, busyTimeout: BusyTimeout, hasJournal: Bool = true
    ) throws {
        self.directory = directory
        self.generation = generation
        self.hasJournal = hasJournal
        let isComplete = try generation.prepare()
        let settings = hasJournal ? Schema.writing : Schema.writing + Schema.noJournal
        database = try Database.open(generation, busyTimeout: busyTimeout, settings: settings)
        try database.checkSchema(of: generation)
        try checkHeader(journalMode: hasJournal ? "delete" : "memory")
        try transaction {
            partials.sweep()
            if !isComplete || hasFoundLeftovers { try countFiles() }
        }
    }

    /// Detects corrupt headers that SQLite accepts.
    private func checkHeader(journalMode: String) throws(SQLiteFailure) {
        if database.isReadOnly, access(generation.database, W_OK) == 0 {
            // The process had no descriptor for writing, and a moment later one for reading.
            if database.isOpenForReading { throw .shortage(generation.database) }
            throw .corruption("the header of the database says that it is read-only")
        }
        guard try database.texts(Schema.journalMode) == [journalMode] else {
            throw .corruption("the header of the database says that it has a write-ahead log")
        }
    }

    func statement(_ sql: String) throws(SQLiteFailure) -> Statement {
        if let known = statements[sql] { return known }
        let made = try database.prepare(sql)
        statements[sql] = made
        return made
    }

    /// Runs `body` in a transaction, if the generation is in use.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        (made, adopted, movedAway, mustCountFiles) = ([], [], [], false)
        try statement(Schema.beginWriting).run()
        let result: Result
        do {
            if !hasJournal { try announceChanges() }
            guard !database.hasMoved, try generation.isInUse(in: directory) else { throw Superseded() }
            hasFoundLeftovers = try files.settleAll(whoseEntryExists: hasFile)
            result = try body()
            // An invalid number: the next transaction that needs it counts the files.
            if mustCountFiles { try statement(Schema.setFileBytes).run(-1, 0) }
            try statement(Schema.commit).run()
        } catch {
            adopted.forEach(giveBack)
            // After some failures SQLite has already rolled back. Then this rollback fails, which does no harm. The next
            // transaction settles or deletes the body files.
            try? statement(Schema.rollback).run()
            throw error
        }
        for file in adopted { unlink(file.path) }
        made.forEach(files.settle)
        movedAway.forEach(files.discard)
        return result
    }

    /// Makes an empty journal file, because lookups read without a lock only while there is no journal. SQLite rolls nothing back
    /// from an empty journal. The file stays: after the commit, another process may be using it. The next writer deletes it.
    private func announceChanges() throws(SQLiteFailure) {
        let journal = open(generation.journal, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard journal >= 0 else { throw .system("\(generation.journal) can't be made") }
        close(journal)
    }

    /// The length of an entry's body; nil if there is no such entry.
    func length(of id: Int64) throws(SQLiteFailure) -> Int64? {
        let selection = try statement(Schema.lengthOfEntry)
        defer { selection.reset() }
        selection.bind(id, at: 0)
        return try selection.step() ? selection.integer(.only) : nil
    }

    @inline(never)
    private func hasFile(_ id: Int64) throws(SQLiteFailure) -> Bool {
        try length(of: id).map { $0 > StoredBody.largestInDatabase } ?? false
    }

    func number(_ sql: String, _ parameters: Int64...) throws(SQLiteFailure) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        statement.bind(parameters)
        return try statement.step() ? statement.integer(.only) : 0
    }

    // MARK: - The bytes of all body files

    /// The number that the last transaction of any process has stored; nil if it is corrupt or invalid.
    func fileBytes() throws(SQLiteFailure) -> Int64? {
        let usage = try statement(Schema.fileBytes)
        defer { usage.reset() }
        guard try usage.step() else { return nil }
        let bytes = usage.integer(Schema.Usage.files)
        return bytes >= 0 && usage.integer(Schema.Usage.checksum) == Self.checksum(of: bytes) ? bytes : nil
    }

    private func add(fileBytes: Int64) throws(SQLiteFailure) {
        if fileBytes == 0 { return }
        guard let before = try self.fileBytes() else { return try countFiles() }
        try set(fileBytes: max(0, before + fileBytes))
    }

    private func set(fileBytes: Int64) throws(SQLiteFailure) {
        try statement(Schema.setFileBytes).run(fileBytes, Self.checksum(of: fileBytes))
        if database.changes != 1 { throw .corruption("the database does not store the size of its files") }
    }

    func countFiles() throws(SQLiteFailure) {
        let bytes = try files.sweep(whoseEntryExists: hasFile)
        if try fileBytes() != bytes { try set(fileBytes: bytes) }
    }

    private static func checksum(of fileBytes: Int64) -> Int64 {
        withUnsafeBytes(of: fileBytes.littleEndian) { Int64(bitPattern: Checksum64.of($0)) }
    }

    // MARK: - What a transaction does with files

    func writeFile(_ data: Data, id: Int64) throws(SQLiteFailure) {
        replaceMoved(id)
        try files.write(data, id: id)
        made.append(id)
        try add(fileBytes: BodyFiles.allocatedBytes(length: Int64(data.count)))
    }

    /// Makes a file whose body has arrived the body file of an entry. The file keeps its name until the commit, where the file system
    /// has links: if the transaction fails, or the process ends, the body is not lost.
    func adoptFile(_ path: String, id: Int64, length: Int) throws(SQLiteFailure) {
        replaceMoved(id)
        let place = files.movingPath(id)
        guard link(path, place) == 0 || rename(path, place) == 0 else { throw .system("\(path) can't be moved") }
        made.append(id)
        adopted.append((id, path))
        try add(fileBytes: BodyFiles.allocatedBytes(length: Int64(length)))
    }

    private func giveBack(_ id: Int64, to path: String) {
        let place = files.movingPath(id)
        rename(place, path)  // does nothing if both are names of the same file
        unlink(place)
    }

    /// Deletes the moved file of an entry that this transaction has removed and now stores again: a copy of an entry of another
    /// level keeps its identifier and body. If the transaction fails, the new file has the same bytes as the old one.
    private func replaceMoved(_ id: Int64) {
        guard let place = movedAway.firstIndex(of: id) else { return }
        movedAway.remove(at: place)
        unlink(files.movingPath(id))
    }

    /// - Parameter length: the length of the body according to the entry, which may be corrupt.
    func removeFile(_ id: Int64, length: Int64) throws(SQLiteFailure) {
        if let found = files.moveAway(id) {
            movedAway.append(id)
            // The app may have edited the file through a hard link.
            if found == length {
                try add(fileBytes: -BodyFiles.allocatedBytes(length: length))
            } else {
                mustCountFiles = true
            }
        } else if length > StoredBody.largestInDatabase {
            mustCountFiles = true
        }
    }
}
