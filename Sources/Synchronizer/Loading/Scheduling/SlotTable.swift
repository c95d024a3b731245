/// Values by their names, in one array: no hashing, no gaps but free slots, a few bytes besides the values.
///
/// Numbers and values are in arrays of their own, side by side: so finding a value copies nothing else.
struct SlotTable<Value> {
    /// The number of the name of each value; 0 where there is none.
    private var numbers: [UInt32] = []
    private var values: [Value?] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The names of all values, by slot.
    var ids: [SlotID] {
        numbers.indices.filter { numbers[$0] != 0 }.map { SlotID(slot: UInt32($0), number: numbers[$0]) }
    }

    /// The value of that name. A new value takes the slot from one of an older name, which is not there any more.
    subscript(id: SlotID) -> Value? {
        get {
            contains(id) ? values[Int(id.slot)] : nil
        }
        _modify {
            if contains(id) {
                yield &values[Int(id.slot)]
                if values[Int(id.slot)] == nil { noteRemoval(of: id) }
            } else {
                var value: Value?
                yield &value
                if let value { insert(value, id) }
            }
        }
    }

    func contains(_ id: SlotID) -> Bool {
        let slot = Int(id.slot)
        return slot < numbers.count && numbers[slot] == id.number
    }

    /// Takes the value out.
    mutating func remove(_ id: SlotID) -> Value? {
        guard contains(id) else { return nil }
        let value = values[Int(id.slot)].take()
        noteRemoval(of: id)
        return value
    }

    private mutating func insert(_ value: Value, _ id: SlotID) {
        let slot = Int(id.slot)
        while numbers.count < slot {
            numbers.append(0)
            values.append(nil)
        }
        if slot == numbers.count {
            numbers.append(id.number)
            values.append(value)
            count += 1
        } else {
            if numbers[slot] == 0 { count += 1 }
            numbers[slot] = id.number
            values[slot] = value
        }
    }

    private mutating func noteRemoval(of id: SlotID) {
        numbers[Int(id.slot)] = 0
        count -= 1
        if count == 0, numbers.count > SlotIDs.kept { (numbers, values) = ([], []) }
    }
}

extension SlotTable: Sendable where Value: Sendable {}
