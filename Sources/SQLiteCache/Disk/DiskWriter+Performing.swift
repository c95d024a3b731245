import Foundation

extension DiskWriter {
    /// Runs `body` once the pending changes are written, and waits for it; nil if the disk takes nothing.
    func perform<T>(for source: some WriteSource, _ body: (WriteConnection, DiskBudget) throws -> T) -> T? {
        queue.sync {
            guard drain(source) else { return nil }
            for _ in 0..<4 {
                if connection == nil, reopen() != nil { return nil }
                guard let connection else { return nil }
                do {
                    return try body(connection, DiskBudget(capacity: source.diskCapacity))
                } catch let failure as SQLiteFailure where failure.isCorruption {
                    reopen(replacing: (connection.generation, failure.message))
                } catch {
                    self.connection = nil
                    guard error is WriteConnection.Superseded else { return nil }
                }
            }
            return nil
        }
    }
}
