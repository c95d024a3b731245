/// Values by ID, in one array: no hashing, no gaps except free slots, and a few bytes besides the values.
///
/// Numbers and values are in separate arrays, so finding a value copies nothing else.
struct SlotTable<Value> {
    /// The number of each value's ID; 0 for a free slot.
    private var numbers: [UInt32] = []
    private var values: [Value?] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The IDs of all values, by slot.
    var ids: [SlotID] {
        numbers.indices.filter { numbers[$0] != 0 }.map { SlotID(slot: UInt32($0), number: numbers[$0]) }
    }

    /// The value with that ID. A new value replaces an older one in the same slot.
    ///
    /// A change through the subscript allocates memory for a coroutine. That was 26 of the 78 allocations of a load from the
    /// disk, so its changes go through `insert`, `update` and `remove` (Documentation/Benchmarks.md).
    subscript(id: SlotID) -> Value? {
        // Inlined, so that a caller that reads one property copies no more than that.
        @inline(__always) get {
            contains(id) ? values[Int(id.slot)] : nil
        }
        _modify {
            if contains(id) {
                yield &values[Int(id.slot)]
                if values[Int(id.slot)] == nil { noteRemoval(of: id) }
            } else {
                var value: Value?
                yield &value
                if let value { insert(value, as: id) }
            }
        }
    }

    func contains(_ id: SlotID) -> Bool {
        let slot = Int(id.slot)
        return slot < numbers.count && numbers[slot] == id.number
    }

    /// Changes the value with that ID, if there is one.
    mutating func update(_ id: SlotID, _ change: (inout Value) -> Void) {
        guard contains(id), var value = values[Int(id.slot)].take() else { return }
        change(&value)
        values[Int(id.slot)] = value
    }

    /// Removes the value and returns it.
    mutating func remove(_ id: SlotID) -> Value? {
        guard contains(id) else { return nil }
        let value = values[Int(id.slot)].take()
        noteRemoval(of: id)
        return value
    }

    /// Adds a value. It replaces an older one in the same slot.
    mutating func insert(_ value: Value, as id: SlotID) {
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
