import Foundation

/// Values by key, limited by cost, count and age; evicts the least recently used value first. Never blocks for longer than a short
/// lock.
package final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    package struct Limits: Hashable, Sendable {
        /// The cost at which the cache is purged.
        package var cost: Int
        /// The cost that a purge goes down to.
        package var preferredCost: Int
        package var count: Int
        /// Seconds after which a value is evicted, fresh or not.
        package var age: TimeInterval

        package init(cost: Int, preferredCost: Int, count: Int = .max, age: TimeInterval = .infinity) {
            self.cost = cost
            self.preferredCost = min(preferredCost, cost)
            self.count = count
            self.age = age
        }
    }

    struct Entry {
        let value: Value
        let cost: Int
        let expires: Date
        let insertedAt: Date
    }

    struct State {
        var entries = LRUList<Key, Entry>()
        var cost = 0
        /// The group of a key; nil if keys have no groups.
        let group: (@Sendable (Key) -> Int)?
        /// The number of keys in each group.
        private var groupSizes: [Int: Int] = [:]
        /// Evicted entries, released after unlocking: the `deinit` of a key or value may do anything.
        var dropped: [(key: Key, entry: Entry)] = []

        init(group: (@Sendable (Key) -> Int)?) {
            self.group = group
        }

        func size(ofGroup group: Int) -> Int { groupSizes[group] ?? 0 }

        mutating func insert(_ entry: Entry, for key: Key) {
            entries.insert(entry, for: key)
            cost += entry.cost
            if let group { groupSizes[group(key), default: 0] += 1 }
        }

        mutating func remove(_ key: Key) {
            guard let inserted = entries.inserted(key), let entry = entries.remove(key) else { return }
            cost -= entry.cost
            if let group {
                let group = group(key)
                groupSizes[group] = size(ofGroup: group) > 1 ? size(ofGroup: group) - 1 : nil
            }
            dropped.append((inserted, entry))
        }

        /// Keeps at least the most recently used value.
        mutating func purge(toCost limit: Int, count: Int) {
            while cost > limit || entries.count > count, entries.count > 1, let key = entries.leastRecentlyUsed {
                remove(key)
            }
        }
    }

    /// The most that a value counts.
    private static var maximumCost: Int { .max / 4 }

    private let limits: Limits
    /// The cost at which the cache is purged. With one more value, the sum of costs does not overflow.
    private var maximumSum: Int { min(limits.cost, .max - Self.maximumCost) }
    let state: Locked<State>

    /// - Parameter group: the group of a key, for ``removeGroup(_:besides:where:)``.
    package init(limits: Limits, group: (@Sendable (Key) -> Int)? = nil) {
        self.limits = limits
        state = Locked(State(group: group))
    }

    /// The value if it is cached and fresh; with `anyAge` also a stale one. If the clock was set back to more than a minute before
    /// the insertion, it is not known whether a value is fresh.
    package func value(for key: Key, now: Date, anyAge: Bool = false) -> Value? {
        state.withLock { state in
            state.entries.use(key) { entry in
                let isFresh = anyAge || (now < entry.expires && now.timeIntervalSince(entry.insertedAt) > -60)
                return isFresh && (limits.age == .infinity || now < entry.insertedAt + limits.age) ? entry.value : nil
            }
        }
    }

    /// Inserts a value, unless it exceeds the limit by itself.
    ///
    /// - Parameter isNewer: whether the value that the key has is newer than this one, and stays.
    package func insert(
        _ value: Value, for key: Key, cost: Int, expires: Date, now: Date,
        unless isNewer: (Value) -> Bool = { _ in false }
    ) {
        let isTooLarge = cost > limits.cost
        let cost = min(max(cost, 0), Self.maximumCost)
        change { state in
            if let old = state.entries[key], isNewer(old.value) { return }
            state.remove(key)
            guard !isTooLarge, limits.count > 0 else { return }
            state.insert(Entry(value: value, cost: cost, expires: expires, insertedAt: now), for: key)
            if state.cost > maximumSum { state.purge(toCost: limits.preferredCost, count: limits.count) }
            state.purge(toCost: maximumSum, count: limits.count)
        }
    }

    package func remove(_ key: Key, unless isNewer: (Value) -> Bool = { _ in false }) {
        change { state in
            if let old = state.entries[key], isNewer(old.value) { return }
            state.remove(key)
        }
    }

    /// Removes the matching values of a group. Looks at the values only if the group has other keys than the given one.
    package func removeGroup(_ group: Int, besides key: Key?, where matches: (Key, Value) -> Bool) {
        let (groupOf, others) = state.withLock { state in
            let own = key.flatMap { state.entries[$0] } == nil ? 0 : 1
            return (state.group, state.size(ofGroup: group) - own)
        }
        guard others > 0, let groupOf else { return }
        _ = take { groupOf($0) == group && matches($0, $1) }
    }

    /// Removes the matching values and returns them. Checks values without the lock: those inserted during the check may stay.
    package func take(where matches: (Key, Value) -> Bool) -> [Value] {
        let all = state.withLock { state in
            state.entries.allKeys.compactMap { key in state.entries[key].map { (key, $0.value) } }
        }
        let matching = all.filter(matches)
        let dropped = state.withLock { state in
            defer { state.dropped = [] }
            matching.forEach { state.remove($0.0) }
            return state.dropped
        }
        return dropped.map(\.entry.value)
    }

    package func removeAll() {
        _ = state.withLock { state in
            defer { state = State(group: state.group) }
            return state
        }
    }

    /// Evicts down to the preferred cost, as when the system is short of memory.
    package func purge() {
        change { $0.purge(toCost: limits.preferredCost, count: limits.count) }
    }

    private func change(_ body: (inout State) -> Void) {
        let dropped = state.withLock { state in
            defer { state.dropped = [] }
            body(&state)
            return state.dropped
        }
        withExtendedLifetime(dropped) {}
    }
}
