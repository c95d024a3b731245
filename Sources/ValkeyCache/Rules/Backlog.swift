import SynchronizerSupport

/// Work that needs the server. New items come first, then those that have failed, in turn: in a cluster, the items of a node that
/// is down fail, and must not keep the others waiting.
package struct Backlog<Key: Hashable & Sendable, Item: Sendable>: Sendable {
    private var new = LRUList<Key, Item>()
    private var failed = LRUList<Key, Item>()

    package init() {}

    package var newCount: Int { new.count }
    package var failedCount: Int { failed.count }
    package var count: Int { new.count + failed.count }
    package var isEmpty: Bool { count == 0 }

    package subscript(key: Key) -> Item? { new[key] ?? failed[key] }

    /// The item of that kind that has waited longest.
    package func next(isNew: Bool) -> (key: Key, item: Item)? {
        let items = isNew ? new : failed
        return items.leastRecentlyUsed.flatMap { key in items[key].map { (key, $0) } }
    }

    /// Adds a new item, in place of one with the same key.
    package mutating func add(_ item: Item, for key: Key) {
        failed.remove(key)
        new.insert(item, for: key)
    }

    /// Notes that an item has failed, and what to try instead.
    package mutating func noteFailure(of key: Key, retryingAs item: Item) {
        new.remove(key)
        failed.insert(item, for: key)
    }

    package mutating func remove(_ key: Key) {
        new.remove(key)
        failed.remove(key)
    }
}
