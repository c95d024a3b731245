import Foundation

/// Reads the database: any number of threads at once, none of which waits for the writer.
final class DiskReader: Sendable {
    enum Outcome<Answer> {
        case answer(Answer)
        /// There is no database (yet, or any more).
        case nothing
        /// That file can't be used; the writer should replace it.
        case broken(FileIdentity, reason: String)
    }

    /// A connection that waits to be used. It is taken out of the list by one thread, and used by that one alone.
    private struct Idle: @unchecked Sendable {  // used by whoever has taken it out of the pool
        let connection: ReadConnection
        let file: FileIdentity
    }

    private let directory: CacheDirectory
    private let pool = Locked<[Idle]>([])
    /// More than that are closed when they have been used.
    private let largestPool = 8

    init(_ directory: CacheDirectory) {
        self.directory = directory
    }

    func read<Answer>(_ body: (ReadConnection) throws -> Answer) -> Outcome<Answer> {
        // One `stat` tells whether the file was deleted, replaced or cut off under the open connections. Pages that are
        // mapped beyond the end of a file would kill the process.
        guard let file = FileIdentity(directory.database) else {
            close()
            return .nothing
        }
        do {
            return try read(file, body)
        } catch let failure as SQLiteFailure where !failure.isDamage {
            // The log and the shared memory are made anew when the last process goes and the next one comes: what has
            // met that finds them in their places now.
            close()
            return (try? read(file, body)) ?? .nothing
        } catch let foreign as ForeignDatabase where foreign.isEmpty {
            return .nothing  // another process is about to make it
        } catch is CacheDirectory.Refusal {
            return .nothing
        } catch {
            close()
            return .broken(file, reason: "\(error)")
        }
    }

    private func read<Answer>(
        _ file: FileIdentity, _ body: (ReadConnection) throws -> Answer
    ) throws -> Outcome<Answer> {
        guard let idle = try take(file) else { return .nothing }
        let answer = try body(idle.connection)
        give(back: idle)
        return .answer(answer)
    }

    /// Closes the connections that nobody uses at the moment.
    func close() {
        let closed = pool.withLock { pool in
            defer { pool = [] }
            return pool
        }
        withExtendedLifetime(closed) {}  // they end here, and not under the lock
    }

    private func take(_ file: FileIdentity) throws -> Idle? {
        let found = pool.withLock { $0.popLast() }
        if let found, found.file.isSameFile(as: file), found.file.size <= file.size {
            return Idle(connection: found.connection, file: file)
        }
        if found != nil { close() }
        try directory.check()
        let idle = Idle(connection: try ReadConnection(directory), file: file)
        // Had the database been replaced meanwhile, this one might have opened the log of the new one.
        return FileIdentity(directory.database)?.isSameFile(as: file) == true ? idle : nil
    }

    private func give(back idle: Idle) {
        let surplus = pool.withLock { pool in
            if pool.count < largestPool {
                pool.append(idle)
                return nil as Idle?
            }
            return idle
        }
        withExtendedLifetime(surplus) {}
    }
}
