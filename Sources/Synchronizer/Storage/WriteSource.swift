/// Whose changes a `DiskWriter` writes.
protocol WriteSource: AnyObject, Sendable {
    var diskCapacity: Int { get }
    /// The next changes, and how to name their end when they are written.
    func nextBatch(_ budget: DiskBudget) -> (changes: [Change], end: Int)
    func didWrite(before end: Int)
    func didEvict(_ count: Int)
    /// The responses that wait can't be written; removals still can, perhaps.
    func giveUpStores()
    /// Another process has held the lock all the time: what waits is tried again soon.
    func pauseDisk()
    /// Nothing can be written for now. What waits to be removed still counts as removed; returns whether anything does.
    func giveUpDisk() -> Bool
    /// The database is gone.
    func forgetDisk()
    /// The times of use that the database does not know yet; forgets them.
    func takeUsed() -> [Int64: Int64]
    /// They could not be written.
    func giveBack(used: [Int64: Int64])
}
