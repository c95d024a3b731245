/// A dictionary that knows the order in which its values were used. All operations take constant time.
struct LRUList<Key: Hashable, Value> {
    fileprivate struct Node {
        let key: Key
        var value: Value
        /// Towards the more, and towards the less recently used; -1 at the ends.
        var newer: Int
        var older: Int
    }

    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var positions: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1

    var count: Int { positions.count }
    var keys: [Key] { Array(positions.keys) }
    var leastRecentlyUsed: Key? { oldest < 0 ? nil : nodes[oldest]?.key }

    /// The value; reading it is not using it.
    subscript(key: Key) -> Value? {
        positions[key].flatMap { nodes[$0]?.value }
    }

    /// The value, made the most recently used if it passes.
    mutating func use(_ key: Key, if passes: (Value) -> Bool) -> Value? {
        guard let position = positions[key], let value = nodes[position]?.value, passes(value) else { return nil }
        if position != newest {
            unlink(position)
            link(position)
        }
        return value
    }

    /// Makes the value the most recently used.
    mutating func markUsed(_ key: Key) {
        guard let position = positions[key], position != newest else { return }
        unlink(position)
        link(position)
    }

    /// Adds the value as the most recently used, in place of one of the same key.
    mutating func insert(_ value: Value, for key: Key) {
        remove(key)
        let node = Node(key: key, value: value, newer: -1, older: -1)
        let position: Int
        if let reused = free.popLast() {
            nodes[reused] = node
            position = reused
        } else {
            nodes.append(node)
            position = nodes.count - 1
        }
        positions[key] = position
        link(position)
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let position = positions.removeValue(forKey: key) else { return nil }
        unlink(position)
        defer {
            nodes[position] = nil
            free.append(position)
        }
        return nodes[position]?.value
    }

    private mutating func link(_ position: Int) {
        nodes[position]?.older = newest
        nodes[position]?.newer = -1
        if newest >= 0 { nodes[newest]?.newer = position }
        newest = position
        if oldest < 0 { oldest = position }
    }

    private mutating func unlink(_ position: Int) {
        guard let node = nodes[position] else { return }
        if node.newer >= 0 { nodes[node.newer]?.older = node.older } else { newest = node.older }
        if node.older >= 0 { nodes[node.older]?.newer = node.newer } else { oldest = node.newer }
    }
}

extension LRUList.Node: Sendable where Key: Sendable, Value: Sendable {}
extension LRUList: Sendable where Key: Sendable, Value: Sendable {}
