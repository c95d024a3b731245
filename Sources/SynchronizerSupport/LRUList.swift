/// A dictionary that keeps the order in which its values were used. All operations take constant time.
///
/// Keys, values and links are in separate arrays, so that looking up a value copies that value alone.
package typealias LRUList = _LRUList

/// ``LRUList``. It is public for the same reason as ``_Locked``.
public struct _LRUList<Key: Hashable, Value> {
    /// The places whose values were used just after and just before this one; -1 at the ends.
    @usableFromInline
    struct Links {
        @usableFromInline var newer = -1
        @usableFromInline var older = -1

        @inlinable
        init(newer: Int = -1, older: Int = -1) {
            (self.newer, self.older) = (newer, older)
        }
    }

    @usableFromInline var keys: [Key?] = []
    @usableFromInline var values: [Value?] = []
    @usableFromInline var links: [Links] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline var places: [Key: Int] = [:]
    @usableFromInline var newest = -1
    @usableFromInline var oldest = -1

    @inlinable
    public init() {}

    @inlinable public var count: Int { places.count }
    @inlinable public var allKeys: [Key] { Array(places.keys) }
    @inlinable public var leastRecentlyUsed: Key? { oldest < 0 ? nil : keys[oldest] }

    /// The value. Reading it does not count as a use.
    @inlinable
    public subscript(key: Key) -> Value? {
        places[key].flatMap { values[$0] }
    }

    /// The stored key that equals `key`.
    @inlinable
    public func inserted(_ key: Key) -> Key? {
        places[key].flatMap { keys[$0] }
    }

    /// Returns what `read` makes of the value. If that is not nil, the value becomes the most recently used.
    @inlinable
    public mutating func use<Result>(_ key: Key, _ read: (Value) -> Result?) -> Result? {
        guard let place = places[key], let result = values[place].flatMap(read) else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return result
    }

    /// Makes the value the most recently used.
    @inlinable
    public mutating func markUsed(_ key: Key) {
        guard let place = places[key], place != newest else { return }
        unlink(place)
        link(place)
    }

    /// Adds the value as the most recently used, in place of one with the same key.
    @inlinable
    public mutating func insert(_ value: Value, for key: Key) {
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

    @inlinable
    @discardableResult
    public mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        unlink(place)
        free.append(place)
        keys[place] = nil
        defer { values[place] = nil }
        return values[place]
    }

    @inlinable
    mutating func link(_ place: Int) {
        links[place] = Links(newer: -1, older: newest)
        if newest >= 0 { links[newest].newer = place }
        newest = place
        if oldest < 0 { oldest = place }
    }

    @inlinable
    mutating func unlink(_ place: Int) {
        let (newer, older) = (links[place].newer, links[place].older)
        if newer >= 0 { links[newer].older = older } else { newest = older }
        if older >= 0 { links[older].newer = newer } else { oldest = newer }
    }
}

extension _LRUList: Sendable where Key: Sendable, Value: Sendable {}
extension _LRUList.Links: Sendable {}
