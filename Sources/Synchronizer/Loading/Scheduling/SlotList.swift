/// A linked list through the records of a table, in the order in which they were added: adding and removing take constant
/// time and no memory.
struct SlotList: Sendable {
    fileprivate var first = SlotID.none
    fileprivate var last = SlotID.none

    var isEmpty: Bool { first == .none }
}

/// The neighbours of a record in its ``SlotList``.
struct SlotLinks: Sendable {
    fileprivate var previous = SlotID.none
    fileprivate var next = SlotID.none
}

/// A record that can be in one list at a time.
protocol SlotLinked {
    var links: SlotLinks { get set }
}

extension SlotID {
    /// The end of a list: in no table. An optional would take half as much memory again.
    fileprivate static let none = SlotID(slot: .max, number: 0)
}

extension SlotTable where Value: SlotLinked {
    /// Appends a record of this table to a list.
    mutating func append(_ id: SlotID, to list: inout SlotList) {
        update(list.last) { $0.links.next = id }
        update(id) { $0.links = SlotLinks(previous: list.last, next: .none) }
        list.last = id
        if list.isEmpty { list.first = id }
    }

    /// Removes a record of this table from its list.
    mutating func unlink(_ id: SlotID, from list: inout SlotList) {
        guard let links = self[id]?.links, links.previous != .none || list.first == id else { return }  // not in it
        if list.first == id { list.first = links.next }
        if list.last == id { list.last = links.previous }
        update(links.previous) { $0.links.next = links.next }  // without effect at an end of the list
        update(links.next) { $0.links.previous = links.previous }
        update(id) { $0.links = SlotLinks() }
    }

    /// The first record in the list that passes.
    func first(in list: SlotList, where passes: (Value) -> Bool) -> SlotID? {
        var next = list.first
        while next != .none, let value = self[next] {
            if passes(value) { return next }
            next = value.links.next
        }
        return nil
    }

    func ids(in list: SlotList) -> Few<SlotID> {
        var ids = Few<SlotID>()
        var next = list.first
        while next != .none {
            ids.append(next)
            next = self[next]?.links.next ?? .none
        }
        return ids
    }
}
