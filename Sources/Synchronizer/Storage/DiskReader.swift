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
        /// Who used it last, and has its memory in the processor's cache.
        let thread: pthread_t
    }

    private struct Pool {
        var idle: [Idle] = []
        /// The database that the connections are to.
        var file: DatabaseFile?
        /// When to look next whether the path still leads there, in nanoseconds of the system's clock.
        var looksAt: UInt64 = 0
        /// Look-ups since the anchor has asked for them.
        var reads = 0
        var isAnchored = false

        mutating func takeIdle(by thread: pthread_t) -> ReadConnection? {
            guard let index = idle.lastIndex(where: { $0.thread == thread }) ?? idle.indices.last else { return nil }
            return idle.remove(at: index).connection
        }
    }

    private let directory: CacheDirectory
    private let pool: Locked<Pool>
    private let anchor: ReadAnchor
    private let bodyFiles = VerifiedBodies()
    /// More connections than that are closed when they have been used.
    private let largestPool = 8
    /// So many look-ups in an interval of the anchor are worth one.
    private let busyReads = 32
    /// For how long a directory that was renamed may still be read, in nanoseconds.
    private let lookInterval: UInt64 = 100_000_000

    init(_ directory: CacheDirectory) {
        self.directory = directory
        let pool = Locked(Pool())
        self.pool = pool
        anchor = ReadAnchor { [busyReads] canHold in
            pool.withLock { pool in
                pool.isAnchored = canHold && pool.reads >= busyReads
                pool.reads = 0
                return pool.isAnchored
            }
        }
    }

    func read<Answer>(_ body: (ReadConnection) throws -> Answer) -> Outcome<Answer> {
        if let connection = takeIdle() {
            if let answer = try? body(connection) {
                give(back: connection)
                return .answer(answer)
            }
            // Log and shared memory are made anew when the last process goes and the next one comes: what has met that
            // finds them in their places now. What is damaged is damaged still.
            closeIdle()
        }
        return readAnew(body)
    }

    private func readAnew<Answer>(
        _ body: (ReadConnection) throws -> Answer, triesLeft: Int = 4
    ) -> Outcome<Answer> {
        guard let file = DatabaseFile.current(in: directory), let identity = file.identity else { return .nothing }
        do {
            try directory.check()
            let connection = try ReadConnection(directory, file, bodyFiles)
            let answer = try body(connection)
            give(back: connection, of: file)
            return .answer(answer)
        } catch let failure as SQLiteFailure where !failure.isDamage {
            // The locks of others, or files that are made anew at the moment: mostly gone the next time.
            return triesLeft > 1 ? readAnew(body, triesLeft: triesLeft - 1) : .nothing
        } catch let foreign as ForeignDatabase where foreign.isEmpty {
            return .nothing  // another process is about to make it
        } catch is CacheDirectory.Refusal {
            return .nothing
        } catch {
            return .broken(identity, reason: "\(error)")
        }
    }

    /// A connection to what is still the database of the directory.
    private func takeIdle() -> ReadConnection? {
        let now = DispatchTime.now().uptimeNanoseconds
        let (found, looks) = pool.withLock { pool in
            let looks = now >= pool.looksAt
            if looks { pool.looksAt = now + lookInterval }
            return (pool.takeIdle(by: pthread_self()), looks)
        }
        guard let found else { return nil }
        if found.isIntact(closely: looks), !looks || found.isCurrent { return found }
        found.prepareToClose()
        closeIdle()
        return nil
    }

    /// - Parameter file: the database that the connection was opened to just now; nil for one out of the pool.
    private func give(back connection: ReadConnection, of file: DatabaseFile? = nil) {
        let idle = Idle(connection: connection, thread: pthread_self())
        let (surplus, anchored) = pool.withLock { pool in
            if let file { pool.file = file }
            pool.reads += 1
            let anchors = pool.reads >= busyReads && !pool.isAnchored
            if anchors { pool.isAnchored = true }
            let isWanted = pool.idle.count < largestPool && pool.file == connection.file
            if isWanted { pool.idle.append(idle) }
            return (isWanted ? nil : idle, anchors ? pool.file : nil)
        }
        withExtendedLifetime(surplus) {}  // it ends here, and not under the lock
        if let anchored { anchor.begin(anchored) }
    }

    /// The writer has that database open: there is no other any more.
    func follow(_ file: DatabaseFile) {
        let isNew = pool.withLock { pool in
            defer { pool.file = file }
            return pool.file != file
        }
        if isNew { closeIdle() }
    }

    /// Closes the connections that nobody uses at the moment.
    private func closeIdle() {
        let closed = pool.withLock { pool in
            defer { pool.idle = [] }
            return pool.idle
        }
        withExtendedLifetime(closed) {}
    }

    /// Lets go of the files, as far as nobody uses them at the moment.
    func close() {
        pool.withLock { $0.file = nil }
        closeIdle()
        anchor.close()
    }
}
