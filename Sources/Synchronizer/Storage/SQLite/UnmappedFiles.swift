import Foundation

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// The way in which SQLite reaches files here: the system's own, without memory mapping and without waiting for the disk.
///
/// A page that is mapped beyond the end of a file that somebody cuts off ends the process when it is touched. SQLite maps
/// files through version 2 and 3 of its file methods alone (sqlite.org/c3ref/io_methods.html). These have version 1, so
/// that nothing is mapped, whatever a database's header or a setting says. Nor is anything opened that is no regular file
/// of this user's: opening a FIFO waits for another process, and a link leads elsewhere.
///
/// Nothing is synced. `PRAGMA synchronous` would come too late: it takes effect after SQLite has rolled back what a killed
/// writer left, and after `PRAGMA auto_vacuum` has made a new database. On a busy disk each of those syncs takes seconds,
/// with the lock held.
enum UnmappedFiles {
    /// What `sqlite3_open_v2` knows it by.
    static let name = "Synchronizer-unmapped"
    /// Whether SQLite knows it; made once.
    static let areRegistered: Bool = register()

    // Set once in `register`, and read only by what `areRegistered` has come before.
    nonisolated(unsafe) private static var system: UnsafeMutablePointer<sqlite3_vfs>?
    /// Copies of SQLite's methods, by the address of the original: one for each kind of file system. They are never freed.
    private static let copies = Locked<[UInt: UInt]>([:])

    private static func register() -> Bool {
        guard let found = sqlite3_vfs_find("unix") ?? sqlite3_vfs_find(nil) else { return false }
        system = found
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)  // SQLite keeps it for good
        own.initialize(to: found.pointee)
        own.pointee.zName = UnsafePointer(strdup(name))
        own.pointee.pNext = nil
        own.pointee.xOpen = { _, path, file, flags, outFlags in
            UnmappedFiles.open(path, file, flags, outFlags)
        }
        own.pointee.xDelete = { _, path, _ in
            guard let system = UnmappedFiles.system, let delete = system.pointee.xDelete else { return SQLITE_IOERR }
            return delete(system, path, 0)
        }
        own.pointee.xAccess = { _, path, flags, answer in
            UnmappedFiles.access(path, flags, answer)
        }
        return sqlite3_vfs_register(own, 0) == SQLITE_OK
    }

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let system, let open = system.pointee.xOpen, let file else { return SQLITE_CANTOPEN }
        if let path, !isOwnFileOrNone(path) {
            file.pointee.pMethods = nil
            return SQLITE_NOTADB
        }
        let code = open(system, path, file, flags, outFlags)
        if code == SQLITE_OK, let methods = file.pointee.pMethods { file.pointee.pMethods = unmapped(methods) }
        return code
    }

    /// SQLite asks for a write-ahead log with each transaction. There is none: it could not be opened.
    private static func access(
        _ path: UnsafePointer<CChar>?, _ flags: Int32, _ answer: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        if let path, strlen(path) > 4, strcmp(path + strlen(path) - 4, "-wal") == 0 {
            answer?.pointee = 0
            return SQLITE_OK
        }
        guard let system, let access = system.pointee.xAccess else { return SQLITE_IOERR }
        return access(system, path, flags, answer)
    }

    private static func isOwnFileOrNone(_ path: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return true }
        return status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_nlink <= 1
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
