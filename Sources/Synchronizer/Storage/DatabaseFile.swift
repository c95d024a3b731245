import Foundation

/// Makes the database file, and replaces one that can't be used.
struct DatabaseFile {
    let directory: CacheDirectory
    /// Told what happened, in one line.
    let report: @Sendable (String) -> Void

    /// Opens the database for changing; makes it, or makes it anew, if it must.
    func open(condemning damage: String? = nil) throws -> WriteConnection {
        try directory.prepare()
        // Of several processes that find a bad file, one replaces it, and the others find the new one.
        return try FileLock.holding(directory.lock) {
            if let damage { try setAside(because: damage) }
            if !FileManager.default.fileExists(atPath: directory.database) { try make() }
            do {
                return try WriteConnection(directory)
            } catch let foreign as ForeignDatabase where foreign.isEmpty {
                try make()
            } catch let foreign as ForeignDatabase {
                _ = foreign
                try setAside(because: "it is not a database of this version")
                try make()
            } catch let failure as SQLiteFailure where failure.isDamage {
                try setAside(because: failure.message)
                try make()
            }
            return try WriteConnection(directory)
        }
    }

    private func make() throws {
        // SQLite would let others read it; the files beside it get the same mode.
        let file = Foundation.open(directory.database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 {
            close(file)
        } else if errno != EEXIST {
            throw SQLiteFailure(code: 14, message: String(cString: strerror(errno)))
        }
        let database = try Database(path: directory.database, busyTimeout: 5000)
        try database.execute(Schema.create)
    }

    private func setAside(because reason: String) throws {
        guard FileManager.default.fileExists(atPath: directory.database) else { return }
        if rename(directory.database, directory.setAside) != 0, unlink(directory.database) != 0 {
            throw SQLiteFailure(code: 14, message: String(cString: strerror(errno)))
        }
        unlink(directory.writeAheadLog)
        unlink(directory.sharedMemory)
        report("set the cache database \(directory.database) aside and made a new one: \(reason)")
    }
}

/// A lock among processes, which the system gives back when its holder ends.
enum FileLock {
    static func holding<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SQLiteFailure(code: 14, message: String(cString: strerror(errno))) }
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SQLiteFailure(code: 5, message: String(cString: strerror(errno))) }
        }
        return try body()
    }
}
