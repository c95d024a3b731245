import Foundation

/// Provides the changes that a `DiskWriter` writes, and is told the results.
protocol WriteSource: AnyObject, Sendable {
    var diskCapacity: Int { get }
    var now: Date { get }
    /// The number that the next change will get. Each change has the next higher number.
    var pendingEnd: Int { get }
    /// The next changes, and the number to pass to `didWrite(before:)`.
    func nextBatch(_ budget: DiskBudget) -> (changes: [Change], end: Int)
    func didWrite(before end: Int)
    func didEvict(_ count: Int)
    /// The writer has refused a change that came too late (`WriteConnection.isLate`).
    func didRefuse()
    /// The disk takes no stores. Pending responses become memory-only; removals may still work.
    func abandonStores()
    /// The disk takes no changes. Removals stay pending; returns whether there are any.
    func diskFailed() -> Bool
    /// Another process held the lock for too long. The writer tries again soon.
    func diskIsBusy()
    func didRemoveDatabase()
    /// Takes the usage times that the database does not know yet.
    func takeUsageTimes() -> [Int64: Int64]
    /// Puts back usage times that could not be written.
    func putBack(usageTimes: [Int64: Int64])
}
