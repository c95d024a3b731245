import Foundation

// Beside UnmappedFiles.swift the only file that calls SQLite.
#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// Why SQLite, or the system, has refused something.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// The primary result code (sqlite.org/rescode.html).
    let code: Int32
    let message: String
    /// Why the system refused to open a file.
    var systemError: Int32 = 0

    var description: String { "SQLite error \(code): \(message)" }

    /// The file is not one of our databases, or damaged. That is never concluded from a lack of memory, descriptors, room
    /// or permission. Our SQL fits our tables: where SQLite finds an error in it, or a constraint that stands against it,
    /// the tables are others.
    var isDamage: Bool {
        switch code {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: true
        case SQLITE_CANTOPEN: !Self.shortages.contains(systemError)
        default: false
        }
    }

    var isCannotOpen: Bool { code == SQLITE_CANTOPEN }

    /// Another process holds the lock for longer than we waited.
    var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

    private static let shortages: Set<Int32> = [
        EMFILE, ENFILE, ENOMEM, EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EFBIG, EIO, EINTR, ENOENT, ENOTDIR,
    ]

    /// The process has no more memory or descriptors for now.
    var isShortage: Bool {
        code == SQLITE_NOMEM || (isCannotOpen && [EMFILE, ENFILE, ENOMEM].contains(systemError))
    }

    static func damage(_ message: String) -> SQLiteFailure { SQLiteFailure(code: SQLITE_NOTADB, message: message) }

    /// What the system has said last (`errno`).
    static func system(_ what: String) -> SQLiteFailure {
        let error = errno
        return SQLiteFailure(
            code: error == ENOSPC ? SQLITE_FULL : SQLITE_CANTOPEN,
            message: "\(what): \(String(cString: strerror(error)))", systemError: error)
    }
}

/// One connection to a database file. It is not safe for use by two threads at once, and may move between threads.
final class Database {
    private let handle: OpaquePointer
    private let busyTimeout: BusyTimeout
    private var waitsSince: UInt64?

    /// Opens a file that exists.
    init(path: String, busyTimeout: BusyTimeout) throws(SQLiteFailure) {
        guard UnmappedFiles.areRegistered else {
            throw SQLiteFailure(code: SQLITE_NOMEM, message: "SQLite takes no file methods")
        }
        var opened: OpaquePointer?
        errno = 0
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, UnmappedFiles.name)
        guard let opened else { throw SQLiteFailure(code: code, message: "out of memory") }
        guard code == SQLITE_OK else {
            let failure = Self.failure(code, opened)
            sqlite3_close_v2(opened)
            throw failure
        }
        handle = opened
        self.busyTimeout = busyTimeout
        sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context else { return 0 }
                return Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().wait(isFirst: count == 0) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    private func wait(isFirst: Bool) -> Bool {
        if isFirst { waitsSince = nil }
        return busyTimeout.wait(since: &waitsSince)
    }

    /// Whether the path no longer leads to the file that is open.
    var hasMoved: Bool {
        var answer: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer) != SQLITE_OK || answer != 0
    }

    /// Runs statements that return no rows that matter.
    func execute(_ sql: String) throws(SQLiteFailure) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        var prepared: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil))
        guard let prepared else { throw SQLiteFailure(code: SQLITE_MISUSE, message: "empty statement") }
        return Statement(prepared, of: self)
    }

    /// The first column of the first row, as a number; 0 if there is none.
    func integer(_ sql: String) throws(SQLiteFailure) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// How many rows the last statement that changed the database inserted, changed or deleted.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Whether SQLite would not write to it, although it was opened for that. Known once something was read.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    fileprivate func check(_ code: Int32) throws(SQLiteFailure) {
        if code != SQLITE_OK { throw failure(code) }
    }

    fileprivate func failure(_ code: Int32) -> SQLiteFailure { Self.failure(code, handle) }

    private static func failure(_ code: Int32, _ handle: OpaquePointer) -> SQLiteFailure {
        SQLiteFailure(
            code: code & 0xFF, message: String(cString: sqlite3_errmsg(handle)),
            systemError: sqlite3_system_errno(handle))
    }

    fileprivate var isOutOfMemory: Bool { sqlite3_errcode(handle) == SQLITE_NOMEM }
}

/// A prepared statement. Parameters and columns count from 0.
final class Statement {
    private let handle: OpaquePointer
    private let database: Database  // is not closed before its statements are

    fileprivate init(_ handle: OpaquePointer, of database: Database) {
        self.handle = handle
        self.database = database
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Ends the run, and with it the read transaction that it may have begun. Parameters stay bound.
    func reset() {
        sqlite3_reset(handle)
    }

    /// Goes to the next row, if there is one; after the last the statement is reset.
    func step() throws(SQLiteFailure) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        let failure = code == SQLITE_DONE ? nil : database.failure(code)
        sqlite3_reset(handle)
        if let failure { throw failure }
        return false
    }

    /// Runs a statement of no rows with these parameters.
    func run(_ parameters: Int64?...) throws(SQLiteFailure) {
        for (index, parameter) in parameters.enumerated() { bind(index, parameter) }
        while try step() {}
    }

    // Binding can only fail for an index that is out of range, which is a mistake in Schema.swift, or for a body beyond
    // SQLite's limit of 1 GB, and then the parameter stays NULL and the table's NOT NULL refuses the row.

    func bind(_ index: Int, _ value: Int64?) {
        if let value {
            sqlite3_bind_int64(handle, Int32(index + 1), value)
        } else {
            sqlite3_bind_null(handle, Int32(index + 1))
        }
    }

    /// The bytes must stay where they are until the statement has run.
    func bind(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
        if let start = bytes.baseAddress, !bytes.isEmpty {
            sqlite3_bind_blob64(handle, Int32(index + 1), start, UInt64(bytes.count), nil)
        } else {
            sqlite3_bind_zeroblob(handle, Int32(index + 1), 0)
        }
    }

    func integer(_ column: Int) -> Int64 {
        sqlite3_column_int64(handle, Int32(column))
    }

    func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
    }

    /// The bytes of a column; they are there until the next step or reset.
    func bytes(_ column: Int) throws(SQLiteFailure) -> UnsafeRawBufferPointer {
        guard let start = sqlite3_column_blob(handle, Int32(column)) else {
            if database.isOutOfMemory { throw database.failure(SQLITE_NOMEM) }
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }

    func text(_ column: Int) throws(SQLiteFailure) -> String { String(decoding: try bytes(column), as: UTF8.self) }

    /// Runs a statement of no rows, with bytes that it need not copy.
    func run(binding bytes: some ContiguousBytes, at index: Int) throws(SQLiteFailure) {
        try binding(bytes, at: index) { () throws(SQLiteFailure) in while try step() {} }
    }

    /// Binds bytes while `body` runs the statement, and NULL after that.
    func binding(
        _ bytes: some ContiguousBytes, at index: Int, _ body: () throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        var outcome: Result<Void, SQLiteFailure> = .success(())
        bytes.withUnsafeBytes { buffer in
            bind(index, buffer)
            do throws(SQLiteFailure) {
                try body()
            } catch {
                outcome = .failure(error)
            }
            bind(index, nil)
        }
        try outcome.get()
    }
}
