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
        let names = names(in: directory).filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
        return names.max().map { DatabaseFile(path: directory.path + "/" + $0) }
    }

    /// Removes what processes that were killed have left of older ones.
    func removeOlder(in directory: CacheDirectory) {
        for name in Self.names(in: directory) where name.hasPrefix(Self.prefix) {
            let other = directory.path + "/" + name
            if other < path { unlink(other) }
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
