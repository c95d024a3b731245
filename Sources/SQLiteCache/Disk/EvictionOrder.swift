/// The place of an entry in the order of eviction: the least recently used is evicted first. A shrink also compares length and
/// identifier, so that entries that were used at the same moment have an order, too.
typealias EntryUse = (used: Int64, length: Int64, id: Int64)

extension Schema {
    /// The entries that an eviction removes.
    static let leastRecentlyUsed = victims + " ORDER BY used LIMIT ?"
    /// All entries in the order of eviction: a shrink finds the last one that it removes.
    static let entriesByUse = "SELECT id, length, used FROM entries ORDER BY used, length, id"

    /// Finds an entry whose usage time is in the future.
    static let usedAhead = "SELECT EXISTS (SELECT 1 FROM entries WHERE used > ?)"
    /// Lowers usage times that are later than the first parameter to the second. The second condition is for the table, where a
    /// row may have another time than in the index.
    static let lowerUsed = """
        UPDATE entries SET used = ?2 WHERE id IN (SELECT id FROM entries WHERE used > ?1 LIMIT ?3) AND +used > ?1
        """

    /// The condition for the entries that a shrink keeps.
    static func usedAfter(_ last: EntryUse) -> String {
        "(used, length, id) > (\(last.used), \(last.length), \(last.id))"
    }
}
