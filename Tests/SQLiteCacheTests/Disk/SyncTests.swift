#if canImport(CSQLite)
    import CSQLite
    import Foundation
    import HTTPCaching
    import SynchronizerSupport
    import TestSupport
    import TestTraits
    import Testing

    @testable import SQLiteCache

    /// Notes which directories SQLite opens to sync them.
    private enum SyncedDirectories {
        private static let paths = Locked<[String]>([])

        /// In place of SQLite's own, for good. SQLite goes on without a sync where a directory can't be opened.
        static let areNoted: Bool = {
            let open: @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<CInt>?) -> CInt = { path, _ in
                if let path {
                    let path = String(cString: path)
                    SyncedDirectories.paths.withLock { $0.append(path) }
                }
                return SQLITE_CANTOPEN
            }
            let vfs = sqlite3_vfs_find("unix")
            // SQLite has one type for all system calls, which it casts back.
            let call = unsafeBitCast(open, to: sqlite3_syscall_ptr.self)
            return vfs?.pointee.xSetSystemCall?(vfs, "openDirectory", call) == SQLITE_OK
        }()

        static func paths(in directory: TemporaryDirectory) -> [String] {
            paths.withLock { $0.filter { $0.hasPrefix(directory.url.path) } }
        }
    }

    @Suite("Syncing", .bounded)
    struct SyncTests {
        private let directory = TemporaryDirectory()

        @Test("neither a new database, nor a commit, nor the rollback of a journal that was left waits for the disk")
        func nothingIsSynced() throws {
            try #require(SyncedDirectories.areNoted)
            // The test sees the syncs of SQLite itself.
            let other = TemporaryDirectory()
            try FileManager.default.createDirectory(at: other.url, withIntermediateDirectories: true)
            var handle: OpaquePointer?
            #expect(sqlite3_open(other.url.path + "/database", &handle) == SQLITE_OK)
            #expect(sqlite3_exec(handle, "CREATE TABLE t (x)", nil, nil, nil) == SQLITE_OK)
            sqlite3_close(handle)
            #expect(!SyncedDirectories.paths(in: other).isEmpty)

            let cache = directory.cache()
            let urls = (0..<50).map { "https://example.com/\($0)" }
            for url in urls {
                let cached = try Sample.cached(url, Data(count: 3000))
                cache.store(StoredRecord(Sample.stored(url)), cached: cached, keepsObject: false)
            }
            cache.close()
            try leaveJournal()
            #expect(cache.rows(of: urls[0]) { _ in true }.first?.body == Data(count: 3000))
            cache.change(.removeAll)
            cache.flush()
            #expect(SyncedDirectories.paths(in: directory) == [])
        }

        /// Leaves the journal of a writer that was killed in the middle of a commit.
        private func leaveJournal() throws {
            let (database, journal) = try (directory.generation.database, directory.generation.journal)
            let writer = try Database(path: database, busyTimeout: .none)
            try writer.execute("PRAGMA cache_size = 4; BEGIN IMMEDIATE; UPDATE bodies SET data = zeroblob(3001)")
            let kept = try [database, journal].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
            try writer.execute("ROLLBACK")
            for (data, path) in zip(kept, [database, journal]) {
                // In place, so that the file is the same one; and for its owner alone.
                let file = open(path, O_WRONLY | O_CREAT, 0o600)
                try #require(file >= 0)
                data.withUnsafeBytes { #expect(write(file, $0.baseAddress, $0.count) == $0.count) }
                #expect(close(file) == 0)
            }
        }
    }
#endif
