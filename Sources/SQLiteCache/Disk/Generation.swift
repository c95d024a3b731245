import Foundation
import SynchronizerSupport

/// A database and its body files, in a subdirectory of the cache directory.
///
/// The generation with the highest number is in use. Only indexes are repaired: a new generation replaces one that is unusable, or
/// whose entries are all to be removed. A new generation is made under another name and published with `rename`, which fails
/// if another process was faster. So processes need no lock besides SQLite's, and no process sees an incomplete generation. A
/// number is not used twice while the directory exists: SQLite finds the journal of a database by its path, and a connection
/// to a removed database must not find the journal of another database.
struct Generation: Hashable, Sendable {
    let path: String
    let number: UInt64

    var database: String { path + "/Database" }
    var journal: String { database + "-journal" }
    var partials: PartialFiles { PartialFiles(generation: path) }
    var bodies: BodyFiles { BodyFiles(settled: path + "/Bodies", moving: path + "/Moving") }

    private static let largestNumber: UInt64 = 1 << 60

    init(_ number: UInt64, in directory: CacheDirectory) {
        path = directory.path + "/" + Self.name(of: number)
        self.number = number
    }

    /// The first number if there is no generation. There may have been one, without a successor because the disk was full. Processes
    /// that start in the same second try the same number, so that only one of them makes a generation.
    private static func firstNumber(at now: Date) -> UInt64 {
        UInt64(max(0, min(now.timeIntervalSince1970, 1e11))) << 20
    }

    /// The generation in use; nil if there is none.
    static func newest(in directory: CacheDirectory) throws(SQLiteFailure) -> Generation? {
        try directory.names().compactMap(number).max().map { Generation($0, in: directory) }
    }

    private static func name(of number: UInt64) -> String { "Cache-" + number.hexadecimal }

    private static func number(of name: String) -> UInt64? {
        let number = UInt64(name.suffix(16), radix: 16)
        return number.flatMap { $0 < largestNumber && self.name(of: $0) == name ? $0 : nil }
    }

    /// Makes the generation that follows the newest, unless another process has just made it.
    ///
    /// - Parameter fill: creates the database and its body files. The database must be closed when it returns.
    /// - Returns: false if another process was faster.
    @discardableResult
    static func make(
        after newest: Generation?, in directory: CacheDirectory, at now: Date = Date(),
        fill: (Draft) throws -> Void = makeEmpty
    ) throws -> Bool {
        let next = Generation((newest?.number ?? firstNumber(at: now)) + 1, in: directory)
        let draft = Draft(path: directory.path + "/" + TemporaryGeneration.draft.newName())
        defer { directory.discard(draft.path) }
        try draft.prepare()
        try fill(draft)
        guard try self.newest(in: directory) == newest else { return false }
        if rename(draft.path, next.path) == 0 { return true }
        if errno == EEXIST || errno == ENOTEMPTY { return false }
        throw SQLiteFailure.system("\(next.path) can't be made")
    }

    /// Replaces the newest generation by an empty one, or takes all out of use if there is no room for an empty one; returns
    /// whether that worked. Meanwhile another process may make a generation with a copy of the old entries. This one goes, too.
    static func startAnew(
        in directory: CacheDirectory,
        fill: (Draft) throws -> Void = makeEmpty
    ) throws -> Bool {
        for _ in 0..<4 {
            guard let newest = try newest(in: directory) else { return true }
            try directory.check()
            let isMade = try? make(after: newest, in: directory, fill: fill)
            if isMade == false { continue }
            guard newest.retire(from: directory) else { return false }
            if isMade == true { return true }
        }
        return false
    }

    static func makeEmpty(_ draft: Draft) throws {
        try Database(path: draft.database, busyTimeout: .none).execute(Schema.create)
    }

    /// A generation that is not in use yet.
    struct Draft {
        fileprivate let path: String
        var database: String { path + "/Database" }
        var bodies: String { path + "/Bodies" }

        fileprivate func prepare() throws(SQLiteFailure) {
            for directory in [path, bodies, path + "/Moving"] { _ = try FileSystem.provideDirectory(directory) }
            // SQLite would make the file readable for others. Its journal gets the same mode.
            let file = open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .system("\(database) can't be made") }
            close(file)
        }
    }

    /// Whether it is certain that the database does not exist, or is not a regular file.
    var isIncomplete: Bool {
        if let file = FileSystem.status(database) { return !file.isRegularFile }
        return errno == ENOENT || errno == ENOTDIR
    }

    /// Gives the directory and the database their modes. Without them, the owner could neither use nor delete the files, and the
    /// cache would not work any more.
    ///
    /// - Returns: whether it has changed a mode.
    @discardableResult
    func resetModes() -> Bool {
        guard FileSystem.status(path)?.isDirectory == true else { return false }  // a link leads to foreign files
        var hasChanged = false
        for path in [path, database, journal] where FileSystem.resetMode(path) { hasChanged = true }
        return hasChanged
    }

    /// Checks the directory and the database, and makes the directories of the bodies if they are missing; returns whether both
    /// existed.
    func prepare() throws(SQLiteFailure) -> Bool {
        resetModes()
        if isIncomplete { throw .corruption("the database does not exist, or is not a file") }
        guard let directory = FileSystem.status(path), let file = FileSystem.status(database) else {
            throw .system(database)
        }
        guard directory.isDirectory, directory.st_uid == geteuid(), file.st_uid == geteuid(), file.st_nlink == 1 else {
            throw .corruption("the database is a link, or belongs to another user")
        }
        return try bodies.prepare()
    }

    /// Takes the generation out of use for all processes at once, and deletes its files in the background; returns whether that
    /// worked.
    @discardableResult
    func retire(from directory: CacheDirectory) -> Bool {
        directory.discard(path) || errno == ENOENT
    }

    /// Whether the generation is the newest one. Also deletes temporary generations whose processes have ended.
    func isInUse(in directory: CacheDirectory) throws(SQLiteFailure) -> Bool {
        let names = try directory.names()
        for name in names where TemporaryGeneration.isAbandoned(name) { directory.discard(directory.path + "/" + name) }
        return names.compactMap(Self.number).max() == number
    }

    /// Deletes older and temporary generations, in the background. A process whose draft is deleted makes another draft, or
    /// finds this generation.
    func removeOthers(in directory: CacheDirectory) {
        for name in (try? directory.names()) ?? [] {
            let isOlder = Self.number(of: name).map { $0 < number } ?? false
            if isOlder || TemporaryGeneration.process(of: name) != nil {
                directory.discard(directory.path + "/" + name)
            }
        }
    }

    /// The bytes that the database and its journal take on the disk.
    var allocatedBytes: Int64 { FileSystem.allocatedBytes(database) + FileSystem.allocatedBytes(journal) }
}

/// A generation that is being made or deleted. Its name contains the identifier of the process that does so.
private enum TemporaryGeneration: String {
    case draft = "New"
    case removed = "Old"

    func newName() -> String {
        "\(rawValue)-\(getpid())-\(UInt64(bitPattern: MonotonicID.next()).hexadecimal)"
    }

    /// The process of a temporary generation; nil for every other name, which may be that of a user's file.
    static func process(of name: String) -> pid_t? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, Self(rawValue: parts[0]) != nil, let process = pid_t(parts[1]), process > 0,
            String(process) == parts[1], parts[2].utf8.count == 16, parts[2].allSatisfy(\.isHexDigit)
        else { return nil }
        return process
    }

    /// Whether it is a temporary generation whose process has ended.
    static func isAbandoned(_ name: String) -> Bool {
        guard let process = process(of: name) else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }
}

extension CacheDirectory {
    fileprivate func names() throws(SQLiteFailure) -> [String] {
        try FileSystem.names(in: path, followsLink: true) ?? []
    }

    /// Renames a generation, and deletes it: the database at once, for lookups that have the directory open and would miss body
    /// files, and the rest in the background. If the process ends first, another one deletes it.
    ///
    /// - Returns: false, with `errno`, if it could not be renamed.
    @discardableResult
    fileprivate func discard(_ path: String) -> Bool {
        let removed = self.path + "/" + TemporaryGeneration.removed.newName()
        guard rename(path, removed) == 0 else { return false }
        // Nothing is removed through a link.
        if FileSystem.status(removed)?.isDirectory == true { FileSystem.remove(removed + "/Database") }
        FileSystem.removals.async { FileSystem.remove(removed) }
        return true
    }
}
