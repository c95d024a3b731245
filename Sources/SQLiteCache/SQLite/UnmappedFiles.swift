import Foundation
import SynchronizerSupport

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// Two VFSs for SQLite: its own file methods for the system, without memory mapping and without waiting for the disk.
///
/// - **Nothing is mapped.** If a file is truncated while it is mapped, touching a page beyond its end ends the process.
///   SQLite maps files only through versions 2 and 3 of its file methods (sqlite.org/c3ref/io_methods.html). These methods
///   have version 1, whatever a setting or the header of a database says.
/// - **Nothing is synced.** `PRAGMA synchronous` would come too late: it takes effect after SQLite has rolled back the
///   journal of a killed writer, and after `PRAGMA auto_vacuum` has made a new database. On a busy disk each of those syncs
///   takes seconds, while the lock is held.
/// - **No write is atomic**, whatever the file system promises. So each writer has a journal while it changes pages.
/// - **A write that finds no space fails with an extended code of its own.** SQLite also returns `SQLITE_FULL` if a corrupt
///   database contains a page number beyond its limit.
/// - **No write raises a signal** (`FileSizeLimit`).
/// - **Only regular files of this user are opened.** Opening a FIFO would wait for another process, and a link leads
///   elsewhere.
///
/// With the second VFS (`lockFreeName`), SQLite also takes no lock, and sees no journal. `ReadConnection` itself checks that no
/// writer changed the database during a read.
enum UnmappedFiles {
    /// The names of the VFSs for `sqlite3_open_v2`.
    static let name = "Synchronizer-unmapped"
    static let lockFreeName = "Synchronizer-lock-free"
    /// The extended result code of a write for which the disk has no space (sqlite.org/rescode.html).
    static let noSpace = SQLITE_FULL | 1 << 8
    /// The extended result code of a write that fails for another reason: `SQLITE_IOERR_WRITE`.
    private static let cannotWrite = SQLITE_IOERR | 3 << 8
    /// Registers both VFSs when it is first read. Whether that worked.
    static let areRegistered = register(name, isLockFree: false) && register(lockFreeName, isLockFree: true)

    nonisolated(unsafe) private static var system: UnsafeMutablePointer<sqlite3_vfs>?  // set by `areRegistered`
    /// The addresses of changed copies of SQLite's methods, by the address of the original and by VFS. SQLite has several
    /// originals, for different kinds of file systems. In memory, an unchanged copy follows each changed copy. Copies are never
    /// freed.
    private static let copies = Locked<[[UInt]: UInt]>([:])

    private static func register(_ name: String, isLockFree: Bool) -> Bool {
        guard let found = sqlite3_vfs_find("unix") ?? sqlite3_vfs_find(nil) else { return false }
        system = found
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)  // SQLite keeps it forever
        own.initialize(to: found.pointee)
        own.pointee.zName = UnsafePointer(strdup(name))
        own.pointee.pNext = nil
        own.pointee.xDelete = { _, path, _ in
            guard let system = UnmappedFiles.system, let delete = system.pointee.xDelete else { return SQLITE_IOERR }
            return delete(system, path, 0)
        }
        if isLockFree {
            own.pointee.xOpen = { UnmappedFiles.open(path: $1, file: $2, flags: $3, outFlags: $4, isLockFree: true) }
            own.pointee.xAccess = { UnmappedFiles.denyAccess(answer: $3) }
        } else {
            own.pointee.xOpen = { UnmappedFiles.open(path: $1, file: $2, flags: $3, outFlags: $4, isLockFree: false) }
            own.pointee.xAccess = { UnmappedFiles.access(path: $1, flags: $2, answer: $3) }
        }
        return sqlite3_vfs_register(own, 0) == SQLITE_OK
    }

    private static func open(
        path: UnsafePointer<CChar>?, file: UnsafeMutablePointer<sqlite3_file>?, flags: Int32,
        outFlags: UnsafeMutablePointer<Int32>?, isLockFree: Bool
    ) -> Int32 {
        guard let system, let open = system.pointee.xOpen, let file else { return SQLITE_CANTOPEN }
        if let path, !isOwnFileOrMissing(path) {
            file.pointee.pMethods = nil
            return SQLITE_NOTADB
        }
        let code = open(system, path, file, flags, outFlags)
        if code == SQLITE_OK, let methods = file.pointee.pMethods {
            file.pointee.pMethods = unmapped(methods, isLockFree: isLockFree)
        }
        return code
    }

    /// Answers without the system that there is no write-ahead log, for which SQLite asks in each transaction. None could be
    /// opened.
    private static func access(
        path: UnsafePointer<CChar>?, flags: Int32, answer: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        if let path, strlen(path) > 4, strcmp(path + strlen(path) - 4, "-wal") == 0 {
            return denyAccess(answer: answer)
        }
        guard let system, let access = system.pointee.xAccess else { return SQLITE_IOERR }
        return access(system, path, flags, answer)
    }

    private static func denyAccess(answer: UnsafeMutablePointer<Int32>?) -> Int32 {
        answer?.pointee = 0
        return SQLITE_OK
    }

    private static func isOwnFileOrMissing(_ path: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return true }
        return status.isRegularFile && status.st_uid == geteuid() && status.st_nlink <= 1
    }

    private static func unmapped(
        _ methods: UnsafePointer<sqlite3_io_methods>, isLockFree: Bool
    ) -> UnsafePointer<sqlite3_io_methods>? {
        let key = [UInt(bitPattern: methods), isLockFree ? 1 : 0]
        let address = copies.withLock { copies in
            if let known = copies[key] { return known }
            let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 2)
            copy.initialize(repeating: methods.pointee, count: 2)
            copy.pointee.iVersion = 1
            copy.pointee.xWrite = { file, bytes, count, offset in
                guard let write = file?.pointee.pMethods.successor().pointee.xWrite else { return SQLITE_IOERR }
                guard FileSizeLimit.allows(offset + Int64(count)) else { return UnmappedFiles.cannotWrite }
                let code = write(file, bytes, count, offset)
                return code == SQLITE_FULL ? UnmappedFiles.noSpace : code
            }
            copy.pointee.xSync = { _, _ in SQLITE_OK }
            copy.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
            if isLockFree {
                copy.pointee.xLock = { _, _ in SQLITE_OK }
                copy.pointee.xUnlock = { _, _ in SQLITE_OK }
            }
            copies[key] = UInt(bitPattern: copy)
            return UInt(bitPattern: copy)
        }
        return UnsafePointer(bitPattern: address)
    }
}
