import Foundation

// The only file that knows where SQLite comes from, and the only one that calls it.
#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// What SQLite said no with.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// The primary result code (sqlite.org/rescode.html).
    let code: Int32
    let message: String

    var description: String { "SQLite error \(code): \(message)" }
    /// The file is not a database, or its structure is damaged.
    var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
    /// What the database says when a file's format or tables are not what our SQL, which is right for them, expects.
    ///
    /// - Returns: what `body` does; its general errors (`SQLITE_ERROR`) count as damage.
    static func takingErrorsForDamage<Result>(_ body: () throws(SQLiteFailure) -> Result) throws(SQLiteFailure)
        -> Result
    {
        do {
            return try body()
        } catch {
            throw error.code == SQLITE_ERROR ? SQLiteFailure(code: SQLITE_NOTADB, message: error.message) : error
        }
    }
    /// Another process holds the lock for longer than we waited.
    var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
}

/// One connection to a database file. It is not safe for use by two threads at once, and may move between threads.
final class Database {
    private let handle: OpaquePointer
    private let busyTimeout: Int32

    /// Opens a file that exists.
    ///
    /// - Parameter busyTimeout: for how many milliseconds to wait for a lock that another connection holds.
    init(path: String, busyTimeout: Int32) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened else { throw SQLiteFailure(code: code, message: "out of memory") }
        guard code == SQLITE_OK else {
            let message = String(cString: sqlite3_errmsg(opened))
            sqlite3_close_v2(opened)
            throw SQLiteFailure(code: code & 0xFF, message: message)
        }
        handle = opened
        self.busyTimeout = busyTimeout
        sqlite3_busy_timeout(handle, busyTimeout)
    }

    deinit {
        sqlite3_close_v2(handle)
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

    /// Writes what is in the write-ahead log into the database file, as far as no reader needs it.
    ///
    /// - Parameters:
    ///   - truncating: leaves an empty log, if there are no readers.
    ///   - milliseconds: for how long to wait for readers that there are. Nobody else can write meanwhile.
    func checkpoint(truncating: Bool, waiting milliseconds: Int32 = 0) throws(SQLiteFailure) {
        sqlite3_busy_timeout(handle, milliseconds)
        defer { sqlite3_busy_timeout(handle, busyTimeout) }
        let mode = truncating ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
        if code & 0xFF != SQLITE_BUSY { try check(code) }
    }

    fileprivate func check(_ code: Int32) throws(SQLiteFailure) {
        if code != SQLITE_OK { throw failure(code) }
    }

    fileprivate func failure(_ code: Int32) -> SQLiteFailure {
        SQLiteFailure(code: code & 0xFF, message: String(cString: sqlite3_errmsg(handle)))
    }
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
    func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, Int32(column))
        let count = sqlite3_column_bytes(handle, Int32(column))
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    }
}
