/// All SQL, and the version of the schema that it is written for.
enum Schema {
    /// Marks the file as ours (`PRAGMA application_id`): “SyCa”.
    static let applicationID: Int64 = 0x5379_4361
    /// Counts up with every change of the tables, of the record format, of what binds a response to its request, or of
    /// the digest (`PRAGMA user_version`). A database of another version is set aside: a cache is not worth a migration.
    static let version: Int64 = 3
    /// Bodies up to this size, in bytes, are in the rows of `entries`: finding a row finds them, too.
    static let largestBodyInRow = 1024

    // `entries` has small rows, so that listing, evicting and marking as used touch few pages; bodies that would make
    // them large have a table of their own, or are files. Both are rowid tables: in a WITHOUT ROWID table reading 20 KB
    // takes six times as long. New rows come last in both: rows in the order of their URLs would be found with one descent
    // instead of two, but storing them changes twice as many pages.
    static let create = """
        PRAGMA page_size = 4096;
        PRAGMA auto_vacuum = INCREMENTAL;
        PRAGMA journal_mode = WAL;
        BEGIN IMMEDIATE;
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            url_key INTEGER NOT NULL,   -- the digest of the URL; the URL itself is in the record
            variant INTEGER NOT NULL,   -- the digest of method and selecting fields
            revision INTEGER NOT NULL,  -- grows with each store and update
            stored INTEGER NOT NULL,    -- when, in milliseconds since 1970
            used INTEGER NOT NULL,      -- when, in milliseconds since 1970, about
            size INTEGER NOT NULL,      -- what evicting it frees, in bytes, about
            length INTEGER NOT NULL,    -- of the body, in bytes
            digest INTEGER NOT NULL,    -- of the body
            file INTEGER,               -- NULL: the body is in the database; else what tells files of one digest apart
            seal INTEGER NOT NULL,      -- the digest of all above but `used` and `size`, and of the record
            record BLOB NOT NULL,       -- StoredRecord
            body BLOB                   -- NULL: it is too large for a row, and in `bodies` or a file
        );
        CREATE INDEX entries_by_url ON entries (url_key, revision);
        CREATE INDEX entries_by_use ON entries (used, size);
        CREATE INDEX entries_by_file ON entries (digest, length, file) WHERE file IS NOT NULL;
        CREATE TABLE bodies (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        COMMIT;
        """

    /// For every connection.
    static let connection = """
        PRAGMA trusted_schema = OFF;
        PRAGMA temp_store = MEMORY;
        """
    /// SQLite maps no more than 2 GB; what lies beyond is read. `cell_size_check`, which the writer has on, would make a
    /// look-up a third slower; seal and digest tell what a damaged page gives.
    static let reading = """
        PRAGMA mmap_size = 2147418112;
        PRAGMA query_only = ON;
        """
    /// A transaction survives the end of the process at once, and a power failure from the next checkpoint on; the file
    /// stays whole in either case. Nothing is mapped, whatever SQLite was built with: a page beyond the end of a file that
    /// somebody cuts off is an error then, and not the end of the process.
    static let writing = """
        PRAGMA mmap_size = 0;
        PRAGMA synchronous = NORMAL;
        PRAGMA cell_size_check = ON;
        PRAGMA wal_autocheckpoint = 0;
        """

    static let readApplicationID = "PRAGMA application_id"
    static let readVersion = "PRAGMA user_version"
    static let countTables = "SELECT count(*) FROM sqlite_schema"
    static let journalMode = "PRAGMA journal_mode"
    /// Changes whenever another connection has changed the database.
    static let dataVersion = "PRAGMA data_version"

    static let beginReading = "BEGIN"
    static let begin = "BEGIN IMMEDIATE"
    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"

    // Looking up.
    private static let columns = "id, url_key, variant, revision, stored, length, digest, file, seal, record, body"
    static let entriesOfURL = "SELECT \(columns) FROM entries WHERE url_key = ? ORDER BY revision DESC"
    static let entry = "SELECT \(columns) FROM entries WHERE id = ?"
    static let body = "SELECT data FROM bodies WHERE id = ?"
    static let allEntries = "SELECT \(columns), used FROM entries WHERE id > ? ORDER BY id LIMIT 256"
    /// Of `allEntries`.
    static let usedColumn = 11

    // Changing.
    /// Inserts nothing where another process has used the identifier.
    static let insertEntry = """
        INSERT INTO entries
        (id, url_key, variant, revision, stored, length, digest, file, seal, used, size, record, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO NOTHING
        """
    static let insertBody = "INSERT INTO bodies (id, data) VALUES (?, ?)"
    static let updateEntry = """
        UPDATE entries SET variant = ?2, revision = ?3, stored = ?4, seal = ?5, record = ?6 WHERE id = ?1
        """
    static let markUsed = "UPDATE entries SET used = ?2 WHERE id = ?1 AND used < ?2"

    // Removing: first the victims are looked for, then they go one by one.
    private static let victims = "SELECT id, length, digest, file FROM entries"
    static let victim = victims + " WHERE id = ?"
    static let victimsOfVariant = victims + " WHERE url_key = ? AND variant = ?"
    static let victimsBeyond =
        victims + " WHERE url_key = ? ORDER BY revision DESC LIMIT -1 OFFSET \(Change.mostVariants - 1)"
    static let victimsOfURL = victims + " WHERE url_key = ?"
    static let victimsSince = victims + " WHERE stored >= ?"
    static let leastRecentlyUsed = "SELECT id, size FROM entries ORDER BY used LIMIT 512"
    static let deleteEntry = "DELETE FROM entries WHERE id = ?"
    static let deleteBody = "DELETE FROM bodies WHERE id = ?"
    static let deleteAll = "DELETE FROM entries; DELETE FROM bodies;"

    // Files and sizes.
    static let fileUse = "SELECT 1 FROM entries WHERE digest = ? AND length = ? AND file = ? LIMIT 1"
    /// In blocks of 4096 bytes, as most file systems give them.
    static let fileBytes = """
        SELECT total((length + 4095) / 4096 * 4096) FROM (SELECT DISTINCT digest, length, file FROM entries WHERE file IS NOT NULL)
        """
    static let countEntries = "SELECT count(*) FROM entries"
    static let pageSize = "PRAGMA page_size"
    static let pageCount = "PRAGMA page_count"
    static let freePageCount = "PRAGMA freelist_count"
    static let integrityCheck = "PRAGMA integrity_check(1)"
    static func vacuum(pages: Int64) -> String { "PRAGMA incremental_vacuum(\(pages))" }
}
