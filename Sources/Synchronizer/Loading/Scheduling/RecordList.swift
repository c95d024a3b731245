/// A linked list through the records of a table, in the order in which they were added: adding and removing take constant
/// time and no memory.
struct RecordList: Sendable {
    fileprivate var first = RecordID.none
    fileprivate var last = RecordID.none

    var isEmpty: Bool { first == .none }
}

/// The neighbours of a record in its ``RecordList``.
struct RecordLinks: Sendable {
    fileprivate var previous = RecordID.none
    fileprivate var next = RecordID.none
}

/// A record that can be in one list at a time.
protocol RecordLinked {
    var links: RecordLinks { get set }
}

extension RecordID {
    /// The end of a list: no table has this ID. An optional ID would take 12 bytes instead of 8.
    fileprivate static let none = RecordID(index: .max, number: 0)
}

extension RecordTable where Value: RecordLinked {
    /// Appends a record of this table to a list.
    mutating func append(_ id: RecordID, to list: inout RecordList) {
        update(list.last) { $0.links.next = id }
        update(id) { $0.links = RecordLinks(previous: list.last, next: .none) }
        list.last = id
        if list.isEmpty { list.first = id }
    }

    /// Removes a record of this table from its list.
    mutating func unlink(_ id: RecordID, from list: inout RecordList) {
        guard let links = self[id]?.links, links.previous != .none || list.first == id else { return }  // not in it
        if list.first == id { list.first = links.next }
        if list.last == id { list.last = links.previous }
        update(links.previous) { $0.links.next = links.next }  // without effect at an end of the list
        update(links.next) { $0.links.previous = links.previous }
        update(id) { $0.links = RecordLinks() }
    }

    /// The first record in the list that passes.
    func first(in list: RecordList, where passes: (Value) -> Bool) -> RecordID? {
        var next = list.first
        while next != .none, let value = self[next] {
            if passes(value) { return next }
            next = value.links.next
        }
        return nil
    }

    func ids(in list: RecordList) -> Few<RecordID> {
        var ids = Few<RecordID>()
        var next = list.first
        while next != .none {
            ids.append(next)
            next = self[next]?.links.next ?? .none
        }
        return ids
    }
}
