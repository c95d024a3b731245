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
    private let current = Locked<DatabaseFile?>(nil)
    /// More than that are closed when they have been used.
    private let largestPool = 8

    init(_ directory: CacheDirectory) {
        self.directory = directory
    }

    func read<Answer>(_ body: (ReadConnection) throws -> Answer) -> Outcome<Answer> {
        guard let (file, identity) = locate() else {
            close()
            return .nothing
        }
        do {
            return try read(file, identity, body)
        } catch let failure as SQLiteFailure where !failure.isDamage {
            // The log and the shared memory are made anew when the last process goes and the next one comes: what has
            // met that finds them in their places now.
            close()
            return (try? read(file, identity, body)) ?? .nothing
        } catch let foreign as ForeignDatabase where foreign.isEmpty {
            return .nothing  // another process is about to make it
        } catch is CacheDirectory.Refusal {
            return .nothing
        } catch {
            close()
            return .broken(identity, reason: "\(error)")
        }
    }

    /// The database in use. One `stat` tells whether it was deleted, set aside or cut off under the open connections:
    /// pages that are mapped beyond the end of a file would kill the process.
    private func locate() -> (DatabaseFile, FileIdentity)? {
        if let known = current.withLock({ $0 }), let identity = known.identity { return (known, identity) }
        let found = DatabaseFile.current(in: directory)
        current.withLock { $0 = found }
        return found.flatMap { file in file.identity.map { (file, $0) } }
    }

    private func read<Answer>(
        _ file: DatabaseFile, _ identity: FileIdentity, _ body: (ReadConnection) throws -> Answer
    ) throws -> Outcome<Answer> {
        guard let idle = try take(file, identity) else { return .nothing }
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

    private func take(_ file: DatabaseFile, _ identity: FileIdentity) throws -> Idle? {
        let found = pool.withLock { $0.popLast() }
        if let found, found.file.isSameFile(as: identity), found.file.size <= identity.size {
            return Idle(connection: found.connection, file: identity)
        }
        if found != nil { close() }
        try directory.check()
        return Idle(connection: try ReadConnection(directory, file), file: identity)
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
