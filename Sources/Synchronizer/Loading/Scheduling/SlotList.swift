/// Which things belong to another one, in the order in which they came, as a chain through their own records: adding and
/// removing take constant time, and no memory besides.
struct SlotList: Sendable {
    fileprivate var first = SlotID.none
    fileprivate var last = SlotID.none

    var isEmpty: Bool { first == .none }
}

/// The neighbours of a thing in its ``SlotList``.
struct SlotLinks: Sendable {
    fileprivate var previous = SlotID.none
    fileprivate var next = SlotID.none
}

/// What can be in one list at a time.
protocol SlotLinked {
    var links: SlotLinks { get set }
}

extension SlotID {
    /// The end of a chain: in no table. As an optional it would take half as much memory again.
    fileprivate static let none = SlotID(slot: .max, number: 0)
}

extension SlotTable where Value: SlotLinked {
    /// Adds a value of this table at the end of a list.
    mutating func append(_ id: SlotID, to list: inout SlotList) {
        self[list.last]?.links.next = id
        self[id]?.links = SlotLinks(previous: list.last, next: .none)
        list.last = id
        if list.isEmpty { list.first = id }
    }

    /// Takes a value of this table out of the list in which it is.
    mutating func unlink(_ id: SlotID, from list: inout SlotList) {
        guard let links = self[id]?.links, links.previous != .none || list.first == id else { return }  // not in it
        if links.previous == .none { list.first = links.next } else { self[links.previous]?.links.next = links.next }
        if links.next == .none { list.last = links.previous } else { self[links.next]?.links.previous = links.previous }
        self[id]?.links = SlotLinks()
    }

    /// The first one in the list that passes.
    func first(in list: SlotList, where passes: (Value) -> Bool) -> SlotID? {
        var next = list.first
        while next != .none, let value = self[next] {
            if passes(value) { return next }
            next = value.links.next
        }
        return nil
    }

    func ids(in list: SlotList) -> [SlotID] {
        var ids: [SlotID] = []
        var next = list.first
        while next != .none {
            ids.append(next)
            next = self[next]?.links.next ?? .none
        }
        return ids
    }
}
