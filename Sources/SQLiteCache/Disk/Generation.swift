import Foundation
import SynchronizerSupport

/// A database and its body files, in a subdirectory of the cache directory.
///
/// The generation with the highest number is in use. Nothing is repaired: a generation that is unusable, or whose entries
/// are all to be removed, is replaced by the next one. A new generation is made under another name and published with
/// `rename`, which fails if another process was faster. So processes need no lock besides SQLite's, and none sees half a
/// generation. A number is not used twice while the directory exists: SQLite finds a database's journal by its path, and a
/// connection to a removed database must not find another database's journal.
struct Generation: Hashable, Sendable {
    let path: String
    let number: UInt64

    var database: String { path + "/Database" }
    var journal: String { database + "-journal" }
    var partials: PartialFiles { PartialFiles(generation: path) }
    var bodies: BodyFiles { BodyFiles(settled: path + "/Bodies", moving: path + "/Moving") }

    private static let prefix = "Cache-"
    private static let draftPrefix = "New-"
    private static let removedPrefix = "Old-"
    /// What versions before 3 of the schema kept in the cache directory.
    private static let formerNames = ["Bodies", "Lock", "Set-aside.db"]
    private static let largestNumber: UInt64 = 1 << 60

    init(_ number: UInt64, in directory: CacheDirectory) {
        let digits = String(number, radix: 16)
        path = directory.path + "/" + Self.prefix + String(repeating: "0", count: 16 - digits.count) + digits
        self.number = number
    }

    /// The generation in use; nil if there is none.
    static func newest(in directory: CacheDirectory) throws(SQLiteFailure) -> Generation? {
        let numbers = try FileSystem.names(in: directory.path)?.compactMap(number) ?? []
        return numbers.max().map { Generation($0, in: directory) }
    }

    private static func number(of name: String) -> UInt64? {
        guard name.utf8.count == prefix.utf8.count + 16, name.hasPrefix(prefix),
            let number = UInt64(name.dropFirst(prefix.count), radix: 16), number < largestNumber
        else { return nil }
        return number
    }

    /// Makes the generation that follows the newest, unless another process has just made it.
    ///
    /// - Parameter fill: creates the database and its body files. The database must be closed when it returns.
    static func make(
        after newest: Generation?, in directory: CacheDirectory,
        fill: (Draft) throws -> Void = { try Database(path: $0.database, busyTimeout: .none).execute(Schema.create) }
    ) throws {
        let next = Generation((newest?.number ?? 0) + 1, in: directory)
        let draft = Draft(path: "\(directory.path)/\(draftPrefix)\(getpid())-\(MonotonicID.next())")
        defer { FileSystem.remove(draft.path) }
        try draft.prepare()
        try fill(draft)
        guard rename(draft.path, next.path) != 0, errno != EEXIST, errno != ENOTEMPTY else { return }
        throw SQLiteFailure.system("\(next.path) can't be made")
    }

    /// A generation that is not in use yet.
    struct Draft {
        fileprivate let path: String
        var database: String { path + "/Database" }
        var bodies: String { path + "/Bodies" }

        fileprivate func prepare() throws(SQLiteFailure) {
            for directory in [path, bodies, path + "/Moving"] { _ = try FileSystem.makeDirectory(directory) }
            // SQLite would make the file readable for others. Its journal gets the same mode.
            let file = open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .system("\(database) can't be made") }
            close(file)
        }
    }

    /// Whether the database certainly does not exist, or is no file.
    var isIncomplete: Bool {
        if let file = FileSystem.status(database) { return !file.isRegularFile }
        return errno == ENOENT || errno == ENOTDIR
    }

    /// Checks the directory and the database, and makes the directories of the bodies if they are missing.
    func prepare() throws(SQLiteFailure) {
        if isIncomplete { throw .corruption("it is gone, or no file") }
        guard let directory = FileSystem.status(path), let file = FileSystem.status(database) else {
            throw .system(database)
        }
        guard directory.isDirectory, directory.st_uid == geteuid(), file.st_uid == geteuid(), file.st_nlink == 1 else {
            throw .corruption("it is a link, or belongs to another user")
        }
        try bodies.prepare()
    }

    /// Takes the generation out of use for all processes at once; returns whether that worked.
    @discardableResult
    func retire(from directory: CacheDirectory) -> Bool {
        let removed = "\(directory.path)/\(Self.removedPrefix)\(MonotonicID.next())"
        guard rename(path, removed) == 0 else { return errno == ENOENT }
        FileSystem.remove(removed + "/Database")  // lookups that are in the directory already notice that
        return true
    }

    /// Removes what is left of all other generations, and the files of former versions. If another process is making a
    /// generation, it makes that again or finds this one.
    func removeOthers(in directory: CacheDirectory) {
        guard let names = try? FileSystem.names(in: directory.path) else { return }
        for name in names where !(Self.number(of: name) ?? 0 >= number) {
            let isOurs = [Self.prefix, Self.draftPrefix, Self.removedPrefix].contains(where: name.hasPrefix)
            if isOurs || Self.formerNames.contains(name) { FileSystem.remove(directory.path + "/" + name) }
        }
    }

    /// The bytes that database and journal take on the disk.
    var allocatedBytes: Int64 { FileSystem.allocatedBytes(database) + FileSystem.allocatedBytes(journal) }
}
