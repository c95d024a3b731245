import Foundation

/// Reads the database: any number of threads at once.
final class DiskReader: Sendable {
    enum Outcome<Answer> {
        case answer(Answer)
        /// There is no database, or it can't be read for now.
        case nothing
        /// That generation can't be used; the writer should replace it.
        case broken(Generation, reason: String)
    }

    /// A connection that waits to be used. It is taken out of the list by one thread, and used by that one alone.
    private struct Idle: @unchecked Sendable {  // used only by the thread that has taken it out of the pool
        let connection: ReadConnection
        /// The thread that used it last, and has its memory in the processor's cache.
        let thread: pthread_t
    }

    private struct Pool {
        var idle: [Idle] = []
        /// When to look next for a newer generation, in nanoseconds of the system's clock.
        var looksAt: UInt64 = 0

        mutating func takeIdle(by thread: pthread_t) -> Idle? {
            guard let index = idle.lastIndex(where: { $0.thread == thread }) ?? idle.indices.last else { return nil }
            return idle.remove(at: index)
        }
    }

    private let directory: CacheDirectory
    private let busyTimeout: BusyTimeout
    private let pool = Locked(Pool())
    /// More connections than that are closed when they have been used.
    private let largestPool = 8
    /// For how long a generation that should not be there any more may still be read, in nanoseconds.
    private let lookInterval: UInt64 = 500_000_000

    init(_ directory: CacheDirectory, busyTimeout: BusyTimeout) {
        self.directory = directory
        self.busyTimeout = busyTimeout
    }

    func read<Answer>(_ body: (ReadConnection) throws -> Answer) -> Outcome<Answer> {
        if let idle = takeIdle() {
            do {
                let answer = try body(idle.connection)
                giveBack(idle.connection)
                return .answer(answer)
            } catch let failure as SQLiteFailure where failure.isBusy {
                giveBack(idle.connection)
                return .nothing
            } catch {
                close()  // what is damaged is damaged still when it is opened anew
            }
        }
        return readAnew(body, triesLeft: 3)
    }

    private func readAnew<Answer>(_ body: (ReadConnection) throws -> Answer, triesLeft: Int) -> Outcome<Answer> {
        guard (try? directory.check()) != nil, let generation = try? Generation.newest(in: directory) else {
            return .nothing
        }
        do {
            let connection = try ReadConnection(generation, busyTimeout: busyTimeout)
            let answer = try body(connection)
            giveBack(connection)
            return .answer(answer)
        } catch {
            // It may have been replaced at that moment.
            let isCurrent = try? Generation.newest(in: directory) == generation
            if isCurrent == false, triesLeft > 1 { return readAnew(body, triesLeft: triesLeft - 1) }
            guard let failure = error as? SQLiteFailure, failure.isDamage || generation.isIncomplete else {
                return .nothing
            }
            return .broken(generation, reason: failure.message)
        }
    }

    /// A connection to what is still the database of the directory.
    private func takeIdle() -> Idle? {
        let now = DispatchTime.now().uptimeNanoseconds
        let (idle, looks) = pool.withLock { pool in
            let looks = now >= pool.looksAt
            if looks { pool.looksAt = now + lookInterval }
            return (pool.takeIdle(by: pthread_self()), looks)
        }
        guard let idle else { return nil }
        if !idle.connection.database.hasMoved {
            if !looks { return idle }
            if let newest = try? Generation.newest(in: directory), newest == idle.connection.generation { return idle }
        }
        close()
        return nil
    }

    private func giveBack(_ connection: ReadConnection) {
        let idle = Idle(connection: connection, thread: pthread_self())
        let surplus: Idle? = pool.withLock { pool in
            if pool.idle.count == largestPool { return idle }
            pool.idle.append(idle)
            return nil
        }
        withExtendedLifetime(surplus) {}  // it ends here, and not under the lock
    }

    /// Closes the connections that no thread uses at the moment.
    func close() {
        let closed = pool.withLock { pool in
            defer { pool.idle = [] }
            return pool.idle
        }
        withExtendedLifetime(closed) {}
    }
}
