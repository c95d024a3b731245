import Foundation

/// The database of a cache directory, and what SQLite keeps beside it.
///
/// No two databases of a directory ever have the same name. SQLite removes log and shared memory by their names when
/// the last connection of a process is closed: were a database that has been set aside followed by one of its name, a
/// connection to the old one would take the files of the new one away, under everybody who uses it.
struct DatabaseFile: Hashable, Sendable {
    let path: String

    var writeAheadLog: String { path + "-wal" }
    var sharedMemory: String { path + "-shm" }
    /// nil if it is gone.
    var identity: FileIdentity? { FileIdentity(path) }

    /// Under which name it is made. Nobody takes that for a database; `removeOlder(in:)` removes what was left of one.
    var draft: DatabaseFile { DatabaseFile(path: path + "-new") }

    private static let prefix = "Cache-"
    private static let suffix = ".db"

    /// A name that was never used.
    static func new(in directory: CacheDirectory) -> DatabaseFile {
        let digits = String(UInt64(bitPattern: GrowingID.next()), radix: 16)
        let number = String(repeating: "0", count: 16 - digits.count) + digits
        return DatabaseFile(path: "\(directory.path)/\(prefix)\(number)\(suffix)")
    }

    /// The one in use, which is the newest; nil if there is none.
    static func current(in directory: CacheDirectory) -> DatabaseFile? {
        names(in: directory).filter(isName).max().map { DatabaseFile(path: directory.path + "/" + $0) }
    }

    /// Whether there is none for certain: a directory that can't be listed at the moment may have one.
    static func isMissing(in directory: CacheDirectory) -> Bool {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else {
            return access(directory.path, F_OK) != 0 && errno == ENOENT
        }
        return !names.contains(where: isName)
    }

    private static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
    }

    /// Removes what processes that were killed have left of older ones.
    func removeOlder(in directory: CacheDirectory) {
        for name in Self.names(in: directory) where name.hasPrefix(Self.prefix) {
            let other = directory.path + "/" + name
            if other < path { unlink(other) }
        }
    }

    /// Refuses what somebody else could have put there while others could still write the directory. It is not opened for
    /// that: closing it would give back the locks that SQLite has on it.
    func check() throws(SQLiteFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw SQLiteFailure(code: 14, message: "\(path) is gone") }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_nlink == 1 else {
            throw SQLiteFailure(code: 26, message: "it is a link, or belongs to somebody else")
        }
    }

    /// Removes the files; who has them open keeps them.
    func remove() {
        for path in [path, writeAheadLog, sharedMemory] { unlink(path) }
    }

    /// What the files of the directory take on the disk, the bodies not counted, in bytes.
    static func allocatedBytes(in directory: CacheDirectory) -> Int64 {
        names(in: directory).reduce(0) { $0 + (FileIdentity(directory.path + "/" + $1)?.allocated ?? 0) }
    }

    private static func names(in directory: CacheDirectory) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    }
}
