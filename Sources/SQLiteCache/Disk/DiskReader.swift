import Foundation
import SynchronizerSupport

/// Reads the database, on any number of threads at once.
final class DiskReader: Sendable {
    enum ReadResult<Answer> {
        case answer(Answer)
        /// There is no database, or it can't be read at the moment.
        case unavailable
        /// The writer should replace that generation.
        case unusable(Generation, reason: String)
    }

    private struct Pool {
        var idle: [ReadConnection] = []
        /// When to look for a newer generation, in nanoseconds of `now`.
        var looksAt: UInt64 = 0
        /// When to try again to open a connection without locks, in nanoseconds of `now`. So not every lookup tries where it
        /// always fails, as on network file systems.
        var opensAt: UInt64 = 0

        mutating func takeIdle(locks: Bool) -> ReadConnection? {
            idle.lastIndex { $0.locks == locks }.map { idle.remove(at: $0) }
        }
    }

    private let directory: CacheDirectory
    let busyTimeout: BusyTimeout
    private let now: @Sendable () -> UInt64
    private let pool = Locked(Pool())
    private let verified = VerifiedFiles()
    /// The number of idle connections that are kept open.
    private let poolSize = 8
    /// For how long a superseded generation may still be read, in nanoseconds.
    private let lookInterval: UInt64 = 500_000_000
    /// The nanoseconds between a failed attempt to open a connection without locks and the next attempt.
    private let openInterval: UInt64 = 20_000_000

    /// - Parameter now: a clock, in nanoseconds.
    init(
        directory: CacheDirectory, busyTimeout: BusyTimeout, now: @escaping @Sendable () -> UInt64 = Uptime.now
    ) {
        self.directory = directory
        self.busyTimeout = busyTimeout
        self.now = now
    }

    /// Reads without a lock if no writer is at work, and otherwise with a lock.
    func read<Answer>(_ body: (ReadConnection) throws -> Answer) -> ReadResult<Answer> {
        if let connection = takeIdle(locks: false) ?? openLockFree(), let answer = try? use(connection, body) {
            return .answer(answer)
        }
        if let connection = takeIdle(locks: true) {
            do {
                return .answer(try use(connection, body))
            } catch let failure as SQLiteFailure where failure.isBusy {
                return .unavailable
            } catch {
                close()  // a new connection will find the corruption again
            }
        }
        return readWithNewConnection(body, attemptsLeft: 3)
    }

    /// Opens a connection without locks, unless that failed a moment ago.
    private func openLockFree() -> ReadConnection? {
        let now = now()
        guard pool.withLock({ now >= $0.opensAt }) else { return nil }
        if let generation = newestGeneration, let connection = try? connect(to: generation, locks: false) {
            return connection
        }
        pool.withLock { $0.opensAt = now + openInterval }
        return nil
    }

    private var newestGeneration: Generation? {
        guard (try? directory.check()) != nil else { return nil }
        return try? Generation.newest(in: directory)
    }

    private func connect(to generation: Generation, locks: Bool) throws -> ReadConnection {
        try ReadConnection(generation: generation, busyTimeout: busyTimeout, locks: locks, verified: verified)
    }

    private func use<Answer>(_ connection: ReadConnection, _ body: (ReadConnection) throws -> Answer) throws -> Answer {
        do {
            let answer = try body(connection)
            putBack(connection)
            return answer
        } catch let failure as SQLiteFailure where failure.isBusy {
            putBack(connection)
            throw failure
        }
    }

    private func readWithNewConnection<Answer>(
        _ body: (ReadConnection) throws -> Answer, attemptsLeft: Int
    ) -> ReadResult<Answer> {
        guard let generation = newestGeneration else { return .unavailable }
        do {
            return .answer(try use(try connect(to: generation, locks: true), body))
        } catch {
            // The generation may have been replaced at that moment, or something may have changed the modes of its files.
            let isCurrent = try? Generation.newest(in: directory) == generation
            if isCurrent == false || generation.resetModes(), attemptsLeft > 1 {
                return readWithNewConnection(body, attemptsLeft: attemptsLeft - 1)
            }
            guard let failure = error as? SQLiteFailure, failure.isCorruption || generation.isIncomplete else {
                return .unavailable
            }
            return .unusable(generation, reason: failure.message)
        }
    }

    /// An idle connection to the database in use.
    private func takeIdle(locks: Bool) -> ReadConnection? {
        let now = now()
        let (connection, looks): (ReadConnection?, Bool) = pool.withLock { pool in
            guard let connection = pool.takeIdle(locks: locks) else { return (nil, false) }
            let looks = now >= pool.looksAt
            if looks { pool.looksAt = now + lookInterval }
            return (connection, looks)
        }
        guard let connection else { return nil }
        // A connection without locks notices itself, during a read, that its database was removed from its directory.
        if !locks, !looks { return connection }
        if !connection.database.hasMoved {
            if !looks { return connection }
            if let newest = try? Generation.newest(in: directory), newest == connection.generation { return connection }
        }
        close()
        return nil
    }

    private func putBack(_ connection: ReadConnection) {
        // The caller has the connection, so a surplus one is not closed under the lock.
        pool.withLock { if $0.idle.count < poolSize { $0.idle.append(connection) } }
    }

    /// Closes the idle connections.
    func close() {
        guard !ForkedProcess.isCurrent else { return }
        let closed = pool.withLock { pool in
            defer { pool.idle = [] }
            return pool.idle
        }
        withExtendedLifetime(closed) {}
    }
}
