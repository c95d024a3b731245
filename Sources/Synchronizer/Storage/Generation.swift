import Foundation

/// A database and its body files, in a directory of their own inside the cache directory.
///
/// The generation with the highest number is in use. Nothing is repaired: a generation that can't be used, or whose
/// entries are all to be removed, is followed by the next one and removed. A new one is made under another name and
/// gets its number with `rename`, which fails where another process was faster. So there is no lock among processes
/// beside SQLite's, and no process sees half a generation. A number is not used twice while the directory exists: SQLite
/// finds a database's journal by its path, and a connection to a removed database must not find that of another one.
struct Generation: Hashable, Sendable {
    let path: String
    let number: UInt64

    var database: String { path + "/Database" }
    var journal: String { database + "-journal" }
    var bodies: BodyFiles { BodyFiles(settled: path + "/Bodies", moving: path + "/Moving") }

    private static let prefix = "Cache-"
    private static let draftPrefix = "New-"
    private static let removedPrefix = "Old-"
    private static let largestNumber: UInt64 = 1 << 60

    init(_ number: UInt64, in directory: CacheDirectory) {
        let digits = String(number, radix: 16)
        path = directory.path + "/" + Self.prefix + String(repeating: "0", count: 16 - digits.count) + digits
        self.number = number
    }

    /// The one in use; nil if there is none yet.
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

    /// Makes the generation that follows the newest, or takes the one that another process has made just now.
    ///
    /// - Parameter fill: makes the database and its body files, in the directory of that path. The database is closed
    ///   when it returns.
    static func make(
        after newest: Generation?, in directory: CacheDirectory,
        _ fill: (Draft) throws -> Void = { try Database(path: $0.database, busyTimeout: .none).execute(Schema.create) }
    ) throws {
        let next = Generation((newest?.number ?? 0) + 1, in: directory)
        let draft = Draft(path: "\(directory.path)/\(draftPrefix)\(getpid())-\(GrowingID.next())")
        defer { FileSystem.remove(draft.path) }
        try draft.prepare()
        try fill(draft)
        guard rename(draft.path, next.path) != 0, errno != EEXIST, errno != ENOTEMPTY else { return }
        throw SQLiteFailure.system("\(next.path) can't be made")
    }

    /// A generation that no process uses yet.
    struct Draft {
        fileprivate let path: String
        var database: String { path + "/Database" }
        var bodies: String { path + "/Bodies" }

        fileprivate func prepare() throws(SQLiteFailure) {
            for directory in [path, bodies, path + "/Moving"] { _ = try FileSystem.makeDirectory(directory) }
            // SQLite would let others read it; its journal gets the same mode.
            let file = open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .system("\(database) can't be made") }
            close(file)
        }
    }

    /// Whether the database is for certain not there, or no file.
    var isIncomplete: Bool {
        if let file = FileSystem.status(database) { return !file.isRegularFile }
        return errno == ENOENT || errno == ENOTDIR
    }

    /// Checks that the directory and the database are what they should be, and makes the directories of bodies anew where
    /// they are not.
    func prepare() throws(SQLiteFailure) {
        if isIncomplete { throw .damage("it is gone, or no file") }
        guard let directory = FileSystem.status(path), let file = FileSystem.status(database) else {
            throw .system(database)
        }
        guard directory.isDirectory, directory.st_uid == geteuid(), file.st_uid == geteuid(), file.st_nlink == 1 else {
            throw .damage("it is a link, or belongs to another user")
        }
        try bodies.prepare()
    }

    /// Takes the generation out of use, for all processes at once; returns whether it is.
    @discardableResult
    func retire(from directory: CacheDirectory) -> Bool {
        rename(path, "\(directory.path)/\(Self.removedPrefix)\(GrowingID.next())") == 0 || errno == ENOENT
    }

    /// Removes what is left of all older generations, and of versions that kept their files elsewhere. A process that
    /// is just making a generation makes it anew, or finds this one.
    func removeOlder(in directory: CacheDirectory) {
        guard let names = try? FileSystem.names(in: directory.path) else { return }
        for name in names where !(Self.number(of: name) ?? 0 >= number) {
            let isOurs = [Self.prefix, Self.draftPrefix, Self.removedPrefix].contains(where: name.hasPrefix)
            if isOurs || ["Bodies", "Lock", "Set-aside.db"].contains(name) {
                FileSystem.remove(directory.path + "/" + name)
            }
        }
    }

    /// What database and journal take on the disk, in bytes.
    var allocatedBytes: Int64 { FileSystem.allocatedBytes(database) + FileSystem.allocatedBytes(journal) }
}
