import Foundation

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// Why SQLite, or the system, refused an operation.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// The primary result code (sqlite.org/rescode.html).
    let code: Int32
    let message: String
    /// Why the system refused to open a file, or `ENOSPC` if a write found no space.
    var systemError: Int32 = 0

    var description: String { isCannotOpen ? message : "SQLite error \(code): \(message)" }

    /// Whether the file is corrupt, or not one of our databases. That it can't be opened never proves that. Our SQL matches our
    /// tables: if SQLite reports an error in the SQL, or a violated constraint, the tables are not
    /// ours.
    var isCorruption: Bool {
        switch code {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: true
        case SQLITE_FULL: systemError != ENOSPC  // a page has a number beyond SQLite's limit
        default: false
        }
    }

    var isCannotOpen: Bool { code == SQLITE_CANTOPEN }

    /// Whether another connection held the lock for too long.
    var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

    /// Whether the process has no memory or descriptors left at the moment.
    var isShortage: Bool {
        code == SQLITE_NOMEM || (isCannotOpen && [EMFILE, ENFILE, ENOMEM].contains(systemError))
    }

    /// A writer may be at work.
    static let busy = SQLiteFailure(code: SQLITE_BUSY, message: "a writer is at work")
    /// A read without a lock may have returned wrong values.
    static let changedDuringRead = SQLiteFailure(code: SQLITE_ABORT, message: "the database has changed")

    static func corruption(_ message: String) -> SQLiteFailure { SQLiteFailure(code: SQLITE_NOTADB, message: message) }

    /// A directory that must not be used.
    static func refusal(_ message: String) -> SQLiteFailure { SQLiteFailure(code: SQLITE_CANTOPEN, message: message) }

    static func shortage(_ path: String) -> SQLiteFailure {
        errno = EMFILE
        return .system(path)
    }

    /// The last error of the system (`errno`).
    static func system(_ what: String) -> SQLiteFailure {
        let error = errno
        return SQLiteFailure(
            code: error == ENOSPC ? SQLITE_FULL : SQLITE_CANTOPEN,
            message: "\(what): \(String(cString: strerror(error)))", systemError: error)
    }
}
