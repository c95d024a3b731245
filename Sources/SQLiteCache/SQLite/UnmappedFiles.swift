import Foundation
import SynchronizerSupport

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// SQLite's file methods of the system, without memory mapping and without waiting for the disk.
///
/// - **Nothing is mapped.** If a file is truncated while it is mapped, touching a page beyond its end ends the process.
///   SQLite maps files only through versions 2 and 3 of its file methods (sqlite.org/c3ref/io_methods.html). These have
///   version 1, whatever a setting or the header of a database says.
/// - **Nothing is synced.** `PRAGMA synchronous` would come too late: it takes effect after SQLite has rolled back the
///   journal of a killed writer, and after `PRAGMA auto_vacuum` has made a new database. On a busy disk each of those syncs
///   takes seconds, while the lock is held.
/// - **Only regular files of this user are opened.** Opening a FIFO would wait for another process, and a link leads
///   elsewhere.
enum UnmappedFiles {
    /// The name that `sqlite3_open_v2` takes.
    static let name = "Synchronizer-unmapped"
    /// Whether SQLite knows that name. They are registered once.
    static let areRegistered: Bool = register()

    nonisolated(unsafe) private static var system: UnsafeMutablePointer<sqlite3_vfs>?  // set by `areRegistered`
    /// Copies of SQLite's methods by the address of the original, one for each kind of file system. They are never freed.
    private static let copies = Locked<[UInt: UInt]>([:])

    private static func register() -> Bool {
        guard let found = sqlite3_vfs_find("unix") ?? sqlite3_vfs_find(nil) else { return false }
        system = found
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)  // SQLite keeps it forever
        own.initialize(to: found.pointee)
        own.pointee.zName = UnsafePointer(strdup(name))
        own.pointee.pNext = nil
        own.pointee.xOpen = { _, path, file, flags, outFlags in
            UnmappedFiles.open(path: path, file: file, flags: flags, outFlags: outFlags)
        }
        own.pointee.xDelete = { _, path, _ in
            guard let system = UnmappedFiles.system, let delete = system.pointee.xDelete else { return SQLITE_IOERR }
            return delete(system, path, 0)
        }
        own.pointee.xAccess = { _, path, flags, answer in
            UnmappedFiles.access(path: path, flags: flags, answer: answer)
        }
        return sqlite3_vfs_register(own, 0) == SQLITE_OK
    }

    private static func open(
        path: UnsafePointer<CChar>?, file: UnsafeMutablePointer<sqlite3_file>?, flags: Int32,
        outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let system, let open = system.pointee.xOpen, let file else { return SQLITE_CANTOPEN }
        if let path, !isOwnFileOrMissing(path) {
            file.pointee.pMethods = nil
            return SQLITE_NOTADB
        }
        let code = open(system, path, file, flags, outFlags)
        if code == SQLITE_OK, let methods = file.pointee.pMethods { file.pointee.pMethods = unmapped(methods) }
        return code
    }

    /// SQLite looks for a write-ahead log in each transaction. There is none, and none could be opened.
    private static func access(
        path: UnsafePointer<CChar>?, flags: Int32, answer: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        if let path, strlen(path) > 4, strcmp(path + strlen(path) - 4, "-wal") == 0 {
            answer?.pointee = 0
            return SQLITE_OK
        }
        guard let system, let access = system.pointee.xAccess else { return SQLITE_IOERR }
        return access(system, path, flags, answer)
    }

    private static func isOwnFileOrMissing(_ path: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return true }
        return status.isRegularFile && status.st_uid == geteuid() && status.st_nlink <= 1
    }

    private static func unmapped(_ methods: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods>? {
        let address = copies.withLock { copies in
            if let known = copies[UInt(bitPattern: methods)] { return known }
            let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            copy.initialize(to: methods.pointee)
            copy.pointee.iVersion = 1
            copy.pointee.xSync = { _, _ in SQLITE_OK }
            copies[UInt(bitPattern: methods)] = UInt(bitPattern: copy)
            return UInt(bitPattern: copy)
        }
        return UnsafePointer(bitPattern: address)
    }
}
