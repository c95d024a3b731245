/// The place of an entry in the order of eviction: the least recently used is evicted first. A shrink also compares length and
/// identifier, so that entries that were used at the same moment have an order, too.
typealias EntryUse = (used: Int64, length: Int64, id: Int64)

extension Schema {
    /// The entries that an eviction removes.
    static let leastRecentlyUsed = victims + " ORDER BY used LIMIT ?"
    /// All entries in the order of eviction: a shrink finds the last one that it removes.
    static let entriesByUse = "SELECT used, length, id FROM entries ORDER BY used, length, id"

    /// The condition for the entries that a shrink keeps.
    static func usedAfter(_ last: EntryUse) -> String {
        "(used, length, id) > (\(last.used), \(last.length), \(last.id))"
    }
}
