/// Values by their names, in one array: no hashing, no gaps but free slots, a few bytes besides the values.
struct SlotTable<Value> {
    fileprivate struct Entry {
        var value: Value?
        var number: UInt32 = 0
    }

    private var entries: [Entry] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The names of all values, by slot.
    var ids: [SlotID] {
        entries.indices.filter { entries[$0].value != nil }.map {
            SlotID(slot: UInt32($0), number: entries[$0].number)
        }
    }

    /// The value of that name. A new value takes the slot from one of an older name, which is not there any more.
    subscript(id: SlotID) -> Value? {
        get {
            contains(id) ? entries[Int(id.slot)].value : nil
        }
        _modify {
            if contains(id) {
                yield &entries[Int(id.slot)].value
                if entries[Int(id.slot)].value == nil { noteRemoval(of: id) }
            } else {
                var value: Value?
                yield &value
                if let value { insert(value, id) }
            }
        }
    }

    func contains(_ id: SlotID) -> Bool {
        let slot = Int(id.slot)
        return slot < entries.count && entries[slot].number == id.number
    }

    /// Takes the value out.
    mutating func remove(_ id: SlotID) -> Value? {
        guard contains(id) else { return nil }
        let value = entries[Int(id.slot)].value.take()
        noteRemoval(of: id)
        return value
    }

    private mutating func insert(_ value: Value, _ id: SlotID) {
        let slot = Int(id.slot)
        while entries.count <= slot { entries.append(Entry()) }
        if entries[slot].number == 0 { count += 1 }
        entries[slot] = Entry(value: value, number: id.number)
    }

    /// What has been removed has no number: so `number` tells whether there is a value.
    private mutating func noteRemoval(of id: SlotID) {
        entries[Int(id.slot)].number = 0
        count -= 1
        if count == 0, entries.count > SlotIDs.kept { entries = [] }
    }
}

extension SlotTable: Sendable where Value: Sendable {}
extension SlotTable.Entry: Sendable where Value: Sendable {}
