/// All SQL, and the version of the schema that it is written for.
enum Schema {
    /// Marks the file as ours (`PRAGMA application_id`): “SyCa”.
    static let applicationID: Int64 = 0x5379_4361
    /// Counts up with every change of the tables, of the record format, of what binds a response to its request, or of
    /// the digest (`PRAGMA user_version`). A database of another version is replaced: a cache is not worth a migration.
    static let version: Int64 = 4
    /// Bodies up to this size, in bytes, are in the rows of `entries`: finding a row finds them, too.
    static let largestBodyInRow = 1024
    /// Larger bodies up to this size are in the table `bodies`, still larger ones in files (Documentation/Storage.md).
    static let largestBodyInDatabase = 16 << 10

    // `entries` has small rows, so that listing, evicting and marking as used touch few pages; bodies that would make
    // them large have a table of their own, or are files. Both are rowid tables: in a WITHOUT ROWID table reading 20 KB
    // takes six times as long. New rows come last in both: rows in the order of their URLs would be found with one descent
    // instead of two, but storing them changes twice as many pages.
    static let objects = [
        """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            url_key INTEGER NOT NULL,   -- the digest of the URL; the URL itself is in the record
            variant INTEGER NOT NULL,   -- the digest of method and selecting fields
            revision INTEGER NOT NULL,  -- grows with each store and update
            stored INTEGER NOT NULL,    -- when, in milliseconds since 1970
            used INTEGER NOT NULL,      -- when, in milliseconds since 1970, about
            length INTEGER NOT NULL,    -- of the body, in bytes; it tells where the body is
            digest INTEGER NOT NULL,    -- of the body
            seal INTEGER NOT NULL,      -- the digest of all above but `used`, and of the record
            record BLOB NOT NULL,       -- StoredRecord
            body BLOB                   -- NULL: it is too large for a row
        )
        """,
        "CREATE INDEX entries_by_url ON entries (url_key, revision)",
        "CREATE INDEX entries_by_use ON entries (used, length)",
        "CREATE TABLE bodies (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
        // One row: the bytes of all body files, and a digest of that number.
        "CREATE TABLE usage (files INTEGER NOT NULL, seal INTEGER NOT NULL)",
    ]
    static let create = """
        PRAGMA page_size = 4096;
        PRAGMA auto_vacuum = INCREMENTAL;
        BEGIN IMMEDIATE;
        \(objects.joined(separator: ";\n"));
        INSERT INTO usage VALUES (0, 0);
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        COMMIT;
        """

    /// Copies what is kept of another generation, which is attached as `old`, into an empty database. A new index is sorted
    /// once, which costs a fraction of as many insertions. A draft that is not finished is removed: it needs no journal.
    static func copy(usedAfter last: (used: Int64, length: Int64, id: Int64)) -> String {
        """
        PRAGMA page_size = 4096;
        PRAGMA main.auto_vacuum = INCREMENTAL;
        PRAGMA main.journal_mode = OFF;
        PRAGMA cell_size_check = ON;
        \(objects[0]);
        INSERT INTO main.entries SELECT * FROM old.entries NOT INDEXED
            WHERE (used, length, id) > (\(last.used), \(last.length), \(last.id)) ORDER BY id;
        \(objects[1]);
        \(objects[2]);
        \(objects[3]);
        INSERT INTO main.bodies SELECT b.id, b.data FROM main.entries NOT INDEXED CROSS JOIN old.bodies AS b USING (id)
            WHERE length > \(largestBodyInRow) AND length <= \(largestBodyInDatabase);
        \(objects[4]);
        INSERT INTO main.usage VALUES (0, 0);
        PRAGMA main.application_id = \(applicationID);
        PRAGMA main.user_version = \(version);
        """
    }
    static let attachOld = "ATTACH ? AS old"
    static let filesOfDraft = "SELECT id FROM main.entries WHERE length > \(largestBodyInDatabase)"
    static let byUse = "SELECT used, length, id FROM entries ORDER BY used, length, id"

    /// For every connection.
    static let connection = """
        PRAGMA trusted_schema = OFF;
        PRAGMA temp_store = MEMORY;
        """
    /// `cell_size_check`, which the writer has on, would make a lookup a third slower; seal and digest tell what a
    /// damaged page gives.
    static let reading = "PRAGMA query_only = ON;"
    /// The journal keeps the file whole when the process ends at any moment. What a power failure leaves is checked like
    /// everything else that is read: nothing is synced, and SQLite need not prepare for it. Changes wait in memory for the
    /// commit, because writing them to the file before would lock readers out for longer.
    static let writing = """
        PRAGMA synchronous = OFF;
        PRAGMA cache_spill = OFF;
        PRAGMA cell_size_check = ON;
        """

    static let readApplicationID = "PRAGMA application_id"
    static let readVersion = "PRAGMA user_version"
    static let readObjects = "SELECT sql FROM sqlite_schema ORDER BY rowid"
    static let journalMode = "PRAGMA journal_mode"
    /// Changes whenever another connection has changed the database.
    static let dataVersion = "PRAGMA data_version"

    static let beginReading = "BEGIN"
    static let begin = "BEGIN IMMEDIATE"
    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"

    // Looking up.
    private static let columns = "id, url_key, variant, revision, stored, length, digest, seal, record, body"
    static let entriesOfURL = "SELECT \(columns) FROM entries WHERE url_key = ? ORDER BY revision DESC"
    static let entry = "SELECT \(columns) FROM entries WHERE id = ?"
    static let body = "SELECT data FROM bodies WHERE id = ?"
    static let allEntries = "SELECT \(columns), used FROM entries WHERE id > ? ORDER BY id LIMIT 256"
    /// Of `allEntries`.
    static let usedColumn = 10

    // Changing.
    /// Inserts nothing where another process has used the identifier.
    static let insertEntry = """
        INSERT INTO entries (id, url_key, variant, revision, stored, length, digest, seal, used, record, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO NOTHING
        """
    static let insertBody = "INSERT OR REPLACE INTO bodies (id, data) VALUES (?, ?)"
    static let updateEntry = """
        UPDATE entries SET variant = ?2, revision = ?3, stored = ?4, seal = ?5, record = ?6 WHERE id = ?1
        """
    static let markUsed = "UPDATE entries SET used = ?2 WHERE id = ?1 AND used < ?2"

    // Removing: first the victims are looked for, then they go one by one.
    private static let victims = "SELECT id, length FROM entries"
    static let victim = victims + " WHERE id = ?"
    static let victimsOfVariant = victims + " WHERE url_key = ? AND variant = ?"
    static let victimsBeyond =
        victims + " WHERE url_key = ? ORDER BY revision DESC LIMIT -1 OFFSET \(Change.mostVariants - 1)"
    static let victimsOfURL = victims + " WHERE url_key = ?"
    static let victimsSince = victims + " WHERE id > ? AND stored >= ? ORDER BY id LIMIT ?"
    static let leastRecentlyUsed = victims + " ORDER BY used LIMIT ?"
    static let deleteEntry = "DELETE FROM entries WHERE id = ?"
    static let deleteBody = "DELETE FROM bodies WHERE id = ?"

    // Files and sizes.
    static let fileOwner = "SELECT length FROM entries WHERE id = ?"
    static let fileBytes = "SELECT files, seal FROM usage"
    static let setFileBytes = "UPDATE usage SET files = ?, seal = ?"
    static let countEntries = "SELECT count(*) FROM entries"
    static let pageSize = "PRAGMA page_size"
    static let pageCount = "PRAGMA page_count"
    static let freePageCount = "PRAGMA freelist_count"
    static let integrityCheck = "PRAGMA integrity_check(1)"
    static func vacuum(pages: Int64) -> String { "PRAGMA incremental_vacuum(\(pages))" }
}
