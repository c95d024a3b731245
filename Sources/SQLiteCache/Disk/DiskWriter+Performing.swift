import Foundation

/// Why the disk does not take a change.
enum WriteFailure: Error {
    /// Another process held the lock for too long.
    case busy
    case failed
    /// The process has no memory or descriptors left.
    case outOfResources

    init(_ error: any Error) {
        switch error {
        case let failure as SQLiteFailure where failure.isBusy: self = .busy
        case let failure as SQLiteFailure where failure.isShortage: self = .outOfResources
        default: self = .failed
        }
    }
}

extension DiskWriter {
    /// Runs `body` once the changes that are pending now are written, and waits for it; nil if the disk takes nothing.
    func perform<T>(for source: some WriteSource, _ body: (WriteConnection, DiskBudget) throws -> T) -> T? {
        let end = source.pendingEnd
        return queue.sync {
            guard drain(source, before: end) else { return nil }
            let result = attempt(reports: false) { try body($0, DiskBudget(capacity: source.diskCapacity)) }
            return try? result.get()
        }
    }

    /// Passes the connection to `body`. If it can't be used, the database is opened again. If it is corrupt, its indexes are
    /// rebuilt once; if that does not help, it is replaced.
    ///
    /// - Parameter reports: whether users should know that `body` has failed.
    func attempt<T>(reports: Bool = true, _ body: (WriteConnection) throws -> T) -> Result<T, WriteFailure> {
        dispatchPrecondition(condition: .onQueue(queue))
        for attempt in 0..<4 {
            if connection == nil, let failure = reopen(reporting: attempt > 0) {
                if attempt == 0, failure != .busy { continue }
                return .failure(failure)
            }
            guard let connection else { break }
            do {
                defer { if self.connection?.isReplaced == true { self.connection = nil } }
                return .success(try body(connection))
            } catch is WriteConnection.Superseded {
                self.connection = nil
            } catch let failure as SQLiteFailure where failure.isCorruption {
                if attempt == 0, connection.rebuildsIndexes() { continue }
                reopen(replacing: (connection.generation, failure.message))
            } catch {
                self.connection = nil
                let failure = WriteFailure(error)
                if failure != .busy, attempt == 0 { continue }
                if failure != .busy, reports { reportFailure(error) }
                return .failure(failure)
            }
        }
        return .failure(.failed)
    }
}
