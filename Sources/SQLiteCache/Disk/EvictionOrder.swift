/// The place of an entry in the order of eviction: the least recently used first. A large shrink also compares length and
/// identifier, so that entries of the same moment have an order.
typealias EntryUse = (used: Int64, length: Int64, id: Int64)

extension Schema {
    /// What an eviction removes.
    static let leastRecentlyUsed = victims + " ORDER BY used LIMIT ?"
    /// What a shrink reads, to find the last entry that it does not keep.
    static let entriesByUse = "SELECT used, length, id FROM entries ORDER BY used, length, id"

    /// The condition for the entries that a shrink keeps.
    static func usedAfter(_ last: EntryUse) -> String {
        "(used, length, id) > (\(last.used), \(last.length), \(last.id))"
    }
}
