import Foundation

/// Makes the database of a directory, and replaces one that can't be used.
struct DatabaseMaker {
    let directory: CacheDirectory
    /// For how many milliseconds what is opened waits for other processes.
    let lockTimeout: Int32
    /// Told what happened, in one line.
    let report: @Sendable (String) -> Void

    /// Opens the database for changing; makes it, or makes it anew, if it must.
    ///
    /// - Parameter condemned: a database that is not to be used any more, and why.
    func open(condemning condemned: (file: DatabaseFile, reason: String)? = nil) throws -> WriteConnection {
        try directory.prepare()
        // Of several processes that find a bad file, one replaces it, and the others find the new one.
        return try FileLock.holding(directory.lock) {
            if let condemned { try setAside(condemned.file, because: condemned.reason) }
            if let opened = try openCurrent() {
                opened.file.removeOlder(in: directory)
                return opened
            }
            let made = try WriteConnection(directory, make(), lockTimeout: lockTimeout)
            made.file.removeOlder(in: directory)
            try made.removeStrayFiles()  // those of the one before, which nobody counts any more
            return made
        }
    }

    /// nil if there is none that can be used.
    private func openCurrent() throws -> WriteConnection? {
        guard let current = DatabaseFile.current(in: directory) else { return nil }
        do {
            return try WriteConnection(directory, current, lockTimeout: lockTimeout)
        } catch let foreign as ForeignDatabase {
            // An empty one is what a process has left that was killed when it made it.
            if foreign.isEmpty { current.remove() } else { try setAside(current, because: foreign.description) }
        } catch let failure as SQLiteFailure where failure.isDamage {
            try setAside(current, because: failure.message)
        }
        return nil
    }

    private func make() throws -> DatabaseFile {
        let new = DatabaseFile.new(in: directory)
        // Nobody may see it before it is whole. Not its making alone would be seen: closing the file here gives back
        // the locks that a look-up, which had opened it meanwhile, would have on it (fcntl(2)).
        let draft = new.draft
        defer { draft.remove() }
        // SQLite would let others read it; the files beside it get the same mode.
        let file = Foundation.open(draft.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SQLiteFailure(code: 14, message: String(cString: strerror(errno))) }
        close(file)
        try Database(path: draft.path, busyTimeout: 5000).execute(Schema.create)
        // Closing it has brought its log into it, unless there was no room.
        guard access(draft.writeAheadLog, F_OK) != 0, rename(draft.path, new.path) == 0 else {
            throw SQLiteFailure(code: 14, message: String(cString: strerror(errno)))
        }
        return new
    }

    private func setAside(_ file: DatabaseFile, because reason: String) throws {
        guard file.identity != nil else { return }
        if rename(file.path, directory.setAside) != 0, unlink(file.path) != 0 {
            throw SQLiteFailure(code: 14, message: String(cString: strerror(errno)))
        }
        file.remove()
        report("set the cache database \(file.path) aside and made a new one: \(reason)")
    }
}

/// A lock among processes, which the system gives back when its holder ends.
enum FileLock {
    static func holding<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw SQLiteFailure(code: 14, message: String(cString: strerror(errno))) }
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SQLiteFailure(code: 5, message: String(cString: strerror(errno))) }
        }
        return try body()
    }
}
