import Foundation

// Only these files call SQLite: Database.swift, SQLiteFailure.swift and UnmappedFiles.swift.
#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// One connection to a database file. Only one thread at a time may use it; it may move between threads.
final class Database {
    private let handle: OpaquePointer
    private let busyTimeout: BusyTimeout
    private var waitsSince: UInt64?
    /// The prepared statements, by their SQL.
    private var statements: [String: OpaquePointer] = [:]
    /// Whether the system did not open the file for writing, so that SQLite opened it for reading.
    let isOpenForReading: Bool

    /// Opens an existing file.
    ///
    /// - Parameter locks: false to read without a lock. Then the caller must check that no writer changed the file meanwhile.
    init(path: String, busyTimeout: BusyTimeout, locks: Bool = true) throws(SQLiteFailure) {
        guard UnmappedFiles.areRegistered else {
            throw SQLiteFailure(code: SQLITE_NOMEM, message: "SQLite accepts no file methods")
        }
        var opened: OpaquePointer?
        errno = 0
        let access = locks ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        let code = sqlite3_open_v2(
            path, &opened, access | SQLITE_OPEN_NOMUTEX, locks ? UnmappedFiles.name : UnmappedFiles.lockFreeName)
        guard let opened else { throw SQLiteFailure(code: code, message: "out of memory") }
        guard code == SQLITE_OK else {
            let failure = Self.failure(code: code, handle: opened)
            sqlite3_close_v2(opened)
            throw failure
        }
        handle = opened
        isOpenForReading = sqlite3_db_readonly(handle, "main") == 1  // SQLite has not read the header yet
        self.busyTimeout = busyTimeout
        sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context else { return 0 }
                return Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().wait(isFirst: count == 0) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    private func wait(isFirst: Bool) -> Bool {
        if isFirst { waitsSince = nil }
        return busyTimeout.wait(since: &waitsSince)
    }

    /// Whether the path no longer leads to the open file.
    var hasMoved: Bool {
        var answer: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer) != SQLITE_OK || answer != 0
    }

    /// Empties SQLite's page cache; returns whether that worked. No statement may be running.
    func forgetPages() -> Bool {
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESET_CACHE, nil) == SQLITE_OK
    }

    /// Runs statements whose rows are not needed.
    func execute(_ sql: String) throws(SQLiteFailure) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// A statement, which is prepared when it is first used and stays prepared.
    func statement(_ sql: String) throws(SQLiteFailure) -> Statement {
        if let known = statements[sql] { return Statement(handle: known, database: self) }
        var prepared: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil))
        guard let prepared else { throw SQLiteFailure(code: SQLITE_MISUSE, message: "empty statement") }
        statements[sql] = prepared
        return Statement(handle: prepared, database: self)
    }

    /// The first column of the first row, as a number; 0 if there is none.
    func integer(_ sql: String, _ parameters: Int64...) throws(SQLiteFailure) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        statement.bind(parameters)
        return try statement.step() ? statement.integer() : 0
    }

    /// The first column of up to 100 rows, as strings.
    func texts(_ sql: String) throws(SQLiteFailure) -> [String] {
        let statement = try statement(sql)
        defer { statement.reset() }
        var texts: [String] = []
        while texts.count < 100, try statement.step() {
            texts.append(String(decoding: try statement.bytes(), as: UTF8.self))
        }
        return texts
    }

    /// How many rows the last statement that changed the database inserted, updated or deleted.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Whether SQLite refuses to write to the database, although it was opened for writing. Known after the first read.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    private func check(_ code: Int32) throws(SQLiteFailure) {
        if code != SQLITE_OK { throw failure(code: code) }
    }

    fileprivate func failure(code: Int32) -> SQLiteFailure { Self.failure(code: code, handle: handle) }

    private static func failure(code: Int32, handle: OpaquePointer) -> SQLiteFailure {
        let extended = sqlite3_extended_errcode(handle)
        return SQLiteFailure(
            code: code & 0xFF, message: String(cString: sqlite3_errmsg(handle)),
            systemError: extended == UnmappedFiles.noSpace ? ENOSPC : sqlite3_system_errno(handle))
    }

    fileprivate var isOutOfMemory: Bool { sqlite3_errcode(handle) == SQLITE_NOMEM }
}

/// The columns of a query's result, by their indexes.
protocol Column: RawRepresentable<Int32> {}

/// The column of a query that has only one.
enum OnlyColumn: Int32, Column { case only }

/// A prepared statement of a database, which finalizes it. Parameters count from 0.
struct Statement {
    fileprivate let handle: OpaquePointer
    fileprivate let database: Database

    /// Ends the run, and the read transaction that it may have begun. Parameters stay bound.
    func reset() {
        sqlite3_reset(handle)
    }

    /// Moves to the next row and returns true, or resets the statement after the last row.
    func step() throws(SQLiteFailure) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        let failure = code == SQLITE_DONE ? nil : database.failure(code: code)
        sqlite3_reset(handle)
        if let failure { throw failure }
        return false
    }

    /// Runs a statement whose rows are not needed, with these parameters.
    func run(_ parameters: Int64...) throws(SQLiteFailure) {
        bind(parameters)
        while try step() {}
    }

    // Binding fails only for an index that is out of range, which is a mistake in Schema.swift, or for a body beyond
    // SQLite's limit of 1 GB. Then the parameter stays NULL, and the NOT NULL of the table refuses the row.

    func bind(_ values: [Int64]) {
        for (index, value) in values.enumerated() { bind(value, at: index) }
    }

    func bind(_ value: Int64, at index: Int) { sqlite3_bind_int64(handle, Int32(index + 1), value) }

    /// Binds bytes, which must stay in place until the statement has run.
    private func bind(_ bytes: UnsafeRawBufferPointer, at index: Int) {
        if let start = bytes.baseAddress, !bytes.isEmpty {
            sqlite3_bind_blob64(handle, Int32(index + 1), start, UInt64(bytes.count), nil)
        } else {
            sqlite3_bind_zeroblob(handle, Int32(index + 1), 0)
        }
    }

    func integer(_ column: some Column = OnlyColumn.only) -> Int64 {
        sqlite3_column_int64(handle, column.rawValue)
    }

    /// The bytes of a column, which are valid until the next step or reset.
    func bytes(_ column: some Column = OnlyColumn.only) throws(SQLiteFailure) -> UnsafeRawBufferPointer {
        guard let start = sqlite3_column_blob(handle, column.rawValue) else {
            if database.isOutOfMemory { throw database.failure(code: SQLITE_NOMEM) }
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column.rawValue)))
    }

    /// Runs a statement whose rows are not needed. It does not copy the bytes.
    func run(binding bytes: some ContiguousBytes, at index: Int) throws(SQLiteFailure) {
        try binding(bytes, at: index) { () throws(SQLiteFailure) in while try step() {} }
    }

    /// Binds bytes while `body` runs the statement, and NULL afterwards.
    func binding(
        _ bytes: some ContiguousBytes, at index: Int, while body: () throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        var result: Result<Void, SQLiteFailure> = .success(())
        bytes.withUnsafeBytes { buffer in
            bind(buffer, at: index)
            do throws(SQLiteFailure) {
                try body()
            } catch {
                result = .failure(error)
            }
            sqlite3_bind_null(handle, Int32(index + 1))
        }
        try result.get()
    }
}
