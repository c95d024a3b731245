/// A dictionary that keeps the order in which its values were used. All operations take constant time.
///
/// Keys, values and links are in separate arrays, so looking up a value does not copy its key.
struct LRUList<Key: Hashable, Value> {
    /// The neighbours of a place: more recently used, and less recently used; -1 at the ends.
    private struct Links {
        var newer = -1
        var older = -1
    }

    private var keys: [Key?] = []
    private var values: [Value?] = []
    private var links: [Links] = []
    private var free: [Int] = []
    private var places: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1

    var count: Int { places.count }
    var allKeys: [Key] { Array(places.keys) }
    var leastRecentlyUsed: Key? { oldest < 0 ? nil : keys[oldest] }

    /// The value; reading it does not count as use.
    subscript(key: Key) -> Value? {
        places[key].flatMap { values[$0] }
    }

    /// The key itself, as it was inserted.
    func inserted(_ key: Key) -> Key? {
        places[key].flatMap { keys[$0] }
    }

    /// The value, made the most recently used if it passes.
    mutating func use(_ key: Key, if passes: (Value) -> Bool) -> Value? {
        guard let place = places[key], let value = values[place], passes(value) else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return value
    }

    /// Makes the value the most recently used.
    mutating func markUsed(_ key: Key) {
        guard let place = places[key], place != newest else { return }
        unlink(place)
        link(place)
    }

    /// Adds the value as the most recently used, and replaces one with the same key.
    mutating func insert(_ value: Value, for key: Key) {
        remove(key)
        let place: Int
        if let reused = free.popLast() {
            keys[reused] = key
            values[reused] = value
            place = reused
        } else {
            keys.append(key)
            values.append(value)
            links.append(Links())
            place = keys.count - 1
        }
        places[key] = place
        link(place)
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        unlink(place)
        free.append(place)
        keys[place] = nil
        defer { values[place] = nil }
        return values[place]
    }

    private mutating func link(_ place: Int) {
        links[place] = Links(newer: -1, older: newest)
        if newest >= 0 { links[newest].newer = place }
        newest = place
        if oldest < 0 { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (links[place].newer, links[place].older)
        if newer >= 0 { links[newer].older = older } else { newest = older }
        if older >= 0 { links[older].newer = newer } else { oldest = newer }
    }
}

extension LRUList: Sendable where Key: Sendable, Value: Sendable {}
