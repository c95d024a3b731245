import Foundation
import SynchronizerSupport

/// The connection that changes the database.
final class WriteConnection {
    let directory: CacheDirectory
    let generation: Generation
    let database: Database
    private let hasJournal: Bool
    private var current = Transaction()

    /// The capacity for which `shrink` has checked the usage.
    var checkedCapacity: Int64?
    /// Whether another generation has replaced this one.
    var isReplaced = false

    var files: BodyFiles { generation.bodies }

    /// What the current transaction has done with body files.
    private struct Transaction {
        /// The files that it has made, by identifier.
        var made: [Int64] = []
        /// The files in `made` whose bodies have arrived in the cache, and where they were.
        var adopted: [(id: Int64, path: String)] = []
        /// The files of the entries that it has removed, by identifier.
        var movedAway: [Int64] = []
        /// Whether it has found files that a killed process has left.
        var hasFoundLeftovers = false
        /// Whether it has removed an entry whose length may be corrupt. Then the number in `usage` may be wrong.
        var mustCountFiles = false
    }

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
            if !isComplete || current.hasFoundLeftovers { try countFiles() }
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

    /// Runs `body` in a transaction, if the generation is in use.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        current = Transaction()
        try database.statement(Schema.beginWriting).run()
        let result: Result
        do {
            if !hasJournal { try announceChanges() }
            guard !database.hasMoved, try generation.isInUse(in: directory) else { throw Superseded() }
            current.hasFoundLeftovers = try files.settleAll(whoseEntryExists: hasFile)
            result = try body()
            // An invalid number: the next transaction that needs it counts the files.
            if current.mustCountFiles { try database.statement(Schema.setFileBytes).run(-1, 0) }
            try database.statement(Schema.commit).run()
        } catch {
            current.adopted.forEach(giveBack)
            // After some failures SQLite has already rolled back. Then this rollback fails, which does no harm. The next
            // transaction settles or deletes the body files.
            try? database.statement(Schema.rollback).run()
            throw error
        }
        for file in current.adopted { unlink(file.path) }
        current.made.forEach(files.settle)
        current.movedAway.forEach(files.discard)
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
        let selection = try database.statement(Schema.lengthOfEntry)
        defer { selection.reset() }
        selection.bind(id, at: 0)
        return try selection.step() ? selection.integer() : nil
    }

    @inline(never)
    private func hasFile(_ id: Int64) throws(SQLiteFailure) -> Bool {
        try length(of: id).map { $0 > StoredBody.largestInDatabase } ?? false
    }

    // MARK: - The bytes of all body files

    /// The number that the last transaction of any process has stored; nil if it is corrupt or invalid.
    func fileBytes() throws(SQLiteFailure) -> Int64? {
        let usage = try database.statement(Schema.fileBytes)
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
        try database.statement(Schema.setFileBytes).run(fileBytes, Self.checksum(of: fileBytes))
        if database.changes != 1 { throw .corruption("the database does not store the size of its files") }
    }

    /// Deletes the files without an entry, and counts those of all entries.
    func countFiles() throws(SQLiteFailure) {
        try files.sweep(whoseEntryExists: hasFile)
        var bytes: Int64 = 0
        let entries = try database.statement(Schema.entriesWithFiles)
        defer { entries.reset() }
        while try entries.step() {
            let (id, length) = (entries.integer(Schema.Victim.id), entries.integer(Schema.Victim.length))
            bytes += try countedBytes(of: id, length: length, found: files.length(of: id)) ?? 0
        }
        if try fileBytes() != bytes { try set(fileBytes: bytes) }
    }

    /// The bytes that the body file of an entry counts; nil if the entry is corrupt. A file counts as long as its entry says, even
    /// if it is missing, or if its user has made it longer through a hard link: that must not evict other entries.
    ///
    /// - Parameters:
    ///   - length: the length of the body according to the entry, or to an index.
    ///   - found: the length of the file; nil if there is none.
    private func countedBytes(of id: Int64, length: Int64, found: Int64?) throws(SQLiteFailure) -> Int64? {
        func bytes(_ length: Int64) -> Int64 {
            length > StoredBody.largestInDatabase ? FileSystem.nominalBytes(length: length) : 0
        }
        if found == (length > StoredBody.largestInDatabase ? length : nil) { return bytes(length) }
        let entry = try database.statement(Schema.entry)
        defer { entry.reset() }
        entry.bind(id, at: 0)
        guard try entry.step(), let body = try DecodedRow(entry)?.body else { return nil }
        return bytes(Int64(body.length))
    }

    private static func checksum(of fileBytes: Int64) -> Int64 {
        withUnsafeBytes(of: fileBytes.littleEndian) { Int64(bitPattern: Checksum64.of($0)) }
    }

    // MARK: - What a transaction does with files

    func writeFile(_ data: Data, id: Int64) throws(SQLiteFailure) {
        replaceMoved(id)
        try files.write(data, id: id)
        current.made.append(id)
        try add(fileBytes: FileSystem.nominalBytes(length: Int64(data.count)))
    }

    /// Makes a file whose body has arrived the body file of an entry. The file keeps its name until the commit, where the file
    /// system has links: if the transaction fails, or the process ends, the body is not lost.
    func adoptFile(_ path: String, id: Int64, length: Int) throws(SQLiteFailure) {
        replaceMoved(id)
        let place = files.movingPath(id)
        guard link(path, place) == 0 || rename(path, place) == 0 else { throw .system("\(path) can't be moved") }
        current.made.append(id)
        current.adopted.append((id, path))
        try add(fileBytes: FileSystem.nominalBytes(length: Int64(length)))
    }

    private func giveBack(_ id: Int64, to path: String) {
        let place = files.movingPath(id)
        rename(place, path)  // does nothing if both are names of the same file
        unlink(place)
    }

    /// Deletes the moved file of an entry that this transaction has removed and now stores again: a copy of an entry of another
    /// level keeps its identifier and body. If the transaction fails, the new file has the same bytes as the old one.
    private func replaceMoved(_ id: Int64) {
        guard let place = current.movedAway.firstIndex(of: id) else { return }
        current.movedAway.remove(at: place)
        unlink(files.movingPath(id))
    }

    /// Moves away the file of an entry that is about to be removed; returns the bytes that it has counted, or nil if the entry is
    /// corrupt.
    ///
    /// - Parameter length: the length of the body according to the entry.
    func moveFileAway(_ id: Int64, length: Int64) throws(SQLiteFailure) -> Int64? {
        let found = files.moveAway(id)
        if found != nil { current.movedAway.append(id) }
        return try countedBytes(of: id, length: length, found: found)
    }

    /// Subtracts the bytes of a file whose entry was removed. If they are not known, the next transaction counts the files.
    func subtract(fileBytes: Int64?) throws(SQLiteFailure) {
        if let fileBytes { try add(fileBytes: -fileBytes) } else { current.mustCountFiles = true }
    }
}
