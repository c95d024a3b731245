/// All SQL, and the version of the schema that it belongs to.
enum Schema {
    /// Marks a file as ours (`PRAGMA application_id`): “SyCa”.
    static let applicationID: Int64 = 0x5379_4361
    /// Increases when the tables, the encoding of records, the request fields that responses depend on, or the checksum change
    /// (`PRAGMA user_version`). A database of another version is replaced: a cache needs no migration.
    static let version: Int64 = 8

    // `entries` has small rows, so that listing, evicting and marking as used touch few pages. Bodies that would make
    // them large are in a table of their own, or in files. Both tables have rowids: reading 20 KB from a WITHOUT ROWID
    // table takes six times as long. New rows are appended. If rows were ordered by URL, a lookup would descend one B-tree
    // instead of two, but a store would change twice as many pages.
    static let objects = [
        """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            url_key INTEGER NOT NULL,       -- the checksum of the URL, which itself is in the record
            variant INTEGER NOT NULL,       -- the checksum of method and selecting fields
            revision INTEGER NOT NULL,      -- grows with each store and update
            stored INTEGER NOT NULL,        -- when, in milliseconds since 1970
            used INTEGER NOT NULL,          -- when, roughly, in milliseconds since 1970
            length INTEGER NOT NULL,        -- of the body, in bytes; it determines where the body is
            body_checksum INTEGER NOT NULL,
            row_checksum INTEGER NOT NULL,  -- of all columns above except `used`, and of the record
            record BLOB NOT NULL,           -- StoredRecord
            body BLOB                       -- NULL if it is too large for a row
        )
        """,
        "CREATE INDEX entries_by_url ON entries (url_key, revision)",
        "CREATE INDEX entries_by_use ON entries (used, length)",
        "CREATE TABLE bodies (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
        // One row: the bytes of all body files, and a checksum of that number.
        "CREATE TABLE usage (files INTEGER NOT NULL, checksum INTEGER NOT NULL)",
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

    /// Copies the entries that are kept from another generation, attached as `old`, to an empty database. It creates the
    /// indexes after the rows: sorting once costs a fraction of as many insertions. An unfinished draft is deleted, so it needs
    /// no journal. A row that lacks a value because of a corrupt type is left out.
    static func copy(keeping condition: String) -> String {
        """
        PRAGMA page_size = 4096;
        PRAGMA main.auto_vacuum = INCREMENTAL;
        PRAGMA main.journal_mode = OFF;
        PRAGMA cell_size_check = ON;
        \(objects[0]);
        INSERT OR IGNORE INTO main.entries SELECT * FROM old.entries AS e NOT INDEXED
            WHERE \(condition) AND \(isIndexed(in: "old")) ORDER BY id;
        \(objects[1]);
        \(objects[2]);
        \(objects[3]);
        INSERT OR IGNORE INTO main.bodies SELECT b.id, b.data FROM main.entries NOT INDEXED CROSS JOIN old.bodies AS b USING (id)
            WHERE length > \(StoredBody.largestInRow) AND length <= \(StoredBody.largestInDatabase);
        \(objects[4]);
        INSERT INTO main.usage VALUES (0, 0);
        PRAGMA main.application_id = \(applicationID);
        PRAGMA main.user_version = \(version);
        """
    }

    /// Whether the index by URL has a row `e` as it is in the table. Otherwise a removal may have missed the row.
    private static func isIndexed(in database: String) -> String {
        """
        EXISTS (SELECT 1 FROM \(database).entries AS i INDEXED BY entries_by_url
            WHERE i.url_key = e.url_key AND i.revision = e.revision AND i.id = e.id)
        """
    }

    static let attachOld = "ATTACH ? AS old"
    static let filesOfDraft = "SELECT id FROM main.entries WHERE length > \(StoredBody.largestInDatabase)"

    /// The settings of every connection.
    static let connection = """
        PRAGMA trusted_schema = OFF;
        PRAGMA temp_store = MEMORY;
        """
    /// Readers do not use `cell_size_check`, which would make a lookup a third slower. The checksums detect wrong values from a
    /// corrupt page.
    static let reading = "PRAGMA query_only = ON;"
    /// The journal keeps the database intact if the process ends at any moment. A power failure may corrupt the database. Every
    /// read detects that by checksums, so SQLite need not sync. Changes stay in memory until the commit: writing them to the
    /// file earlier would lock out readers for longer. The limit of a terabyte keeps a corrupt page number from making the
    /// database grow without bound.
    static let writing = """
        PRAGMA max_page_count = 268435456;
        PRAGMA synchronous = OFF;
        PRAGMA cache_spill = OFF;
        PRAGMA cell_size_check = ON;
        """
    static let noJournal = "PRAGMA journal_mode = MEMORY;"

    static let readApplicationID = "PRAGMA application_id"
    static let readVersion = "PRAGMA user_version"
    static let readObjects = "SELECT sql FROM sqlite_schema ORDER BY rowid"
    static let journalMode = "PRAGMA journal_mode"
    /// Changes whenever another connection has changed the database.
    static let dataVersion = "PRAGMA data_version"

    static let beginReading = "BEGIN"
    static let beginWriting = "BEGIN IMMEDIATE"
    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"

    // MARK: - Lookups, which return the columns of `Entry`

    private static let columns =
        "id, url_key, variant, revision, stored, length, body_checksum, row_checksum, record, body, used"
    static let entriesOfURL = "SELECT \(columns) FROM entries WHERE url_key = ? ORDER BY revision DESC"
    static let recordsOfVariant = "SELECT record FROM entries WHERE url_key = ? AND variant = ?"
    static let entry = "SELECT \(columns) FROM entries WHERE id = ?"
    static let allEntries = "SELECT \(columns) FROM entries WHERE id > ? ORDER BY id"
    static let body = "SELECT data FROM bodies WHERE id = ?"

    // MARK: - Changes

    /// Inserts nothing if the identifier is already in use. The parameters before the record are numbers.
    static let insertEntry = """
        INSERT INTO entries (id, url_key, variant, revision, stored, length, body_checksum, row_checksum, used, record, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO NOTHING
        """
    static let recordParameter = 9
    static let bodyParameter = 10
    static let insertBody = "INSERT OR REPLACE INTO bodies (id, data) VALUES (?, ?)"
    static let bodyDataParameter = 1
    static let updateEntry = """
        UPDATE entries SET variant = ?2, revision = ?3, stored = ?4, row_checksum = ?5, record = ?6 WHERE id = ?1
        """
    static let updatedRecordParameter = 5
    static let markUsed = "UPDATE entries SET used = ?2 WHERE id = ?1 AND used < ?2"

    // MARK: - Removals: a query for the columns of `Victim`, then one deletion for each

    static let victims = "SELECT id, length FROM entries"
    static let victimsOfVariant = victims + " WHERE url_key = ? AND variant = ?"
    static let victimsBeyond =
        victims + " WHERE url_key = ? ORDER BY revision DESC LIMIT -1 OFFSET \(Change.maximumVariants - 1)"
    static let victimsOfURL = victims + " WHERE url_key = ?"
    static func storedBefore(_ moment: Int64) -> String { "stored < \(moment)" }
    static let victimsSince = victims + " WHERE id > ? AND stored >= ? ORDER BY id LIMIT ?"
    static let victimsNotIndexed = victims + " AS e NOT INDEXED WHERE NOT " + isIndexed(in: "main")
    static let rebuildIndexes = "REINDEX entries"
    static let deleteEntry = "DELETE FROM entries WHERE id = ?"
    static let deleteBody = "DELETE FROM bodies WHERE id = ?"

    // MARK: - Files and sizes

    static let lengthOfEntry = "SELECT length FROM entries WHERE id = ?"
    static let fileBytes = "SELECT files, checksum FROM usage"
    static let setFileBytes = "UPDATE usage SET files = ?, checksum = ?"
    /// In the columns of `Victim`. It reads the index by use alone.
    static let entriesWithFiles = victims + " WHERE length > \(StoredBody.largestInDatabase)"
    static let countEntries = "SELECT count(*) FROM entries"
    static let countStoredBefore = countEntries + " WHERE stored < ?"
    static let pageSize = "PRAGMA page_size"
    static let pageCount = "PRAGMA page_count"
    static let freePageCount = "PRAGMA freelist_count"
    static let integrityCheck = "PRAGMA integrity_check(1)"
    static func vacuum(pages: Int64) -> String { "PRAGMA incremental_vacuum(\(pages))" }
}

// MARK: - Columns

extension Schema {
    /// The columns of an entry that lookups return.
    enum Entry: Int32, Column {
        case id, urlKey, variant, revision, stored, length, bodyChecksum, rowChecksum, record, body, used
    }

    /// The columns that are needed to remove an entry, and the last column of `entriesByUse`.
    enum Victim: Int32, Column { case id, length, used }

    enum Usage: Int32, Column { case files, checksum }
}
