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

    /// The value with that ID.
    ///
    /// Read-only, because a change through a subscript allocates memory for a coroutine: that was 26 of the 78 allocations of
    /// a load from the disk (Documentation/Benchmarks.md).
    subscript(id: SlotID) -> Value? {
        // Inlined, so that a caller that reads one property copies no more than that.
        @inline(__always) get { contains(id) ? values[Int(id.slot)] : nil }
    }

    func contains(_ id: SlotID) -> Bool {
        let slot = Int(id.slot)
        return slot < numbers.count && numbers[slot] == id.number
    }

    /// Changes the value with that ID, if there is one; returns what the change returns.
    @discardableResult
    mutating func update<Result>(_ id: SlotID, _ change: (inout Value) -> Result) -> Result? {
        guard contains(id), var value = values[Int(id.slot)].take() else { return nil }
        defer { values[Int(id.slot)] = value }
        return change(&value)
    }

    /// Removes the value and returns it.
    @discardableResult
    mutating func remove(_ id: SlotID) -> Value? {
        guard contains(id) else { return nil }
        defer {
            numbers[Int(id.slot)] = 0
            count -= 1
            if count == 0, numbers.count > SlotIDs.kept { (numbers, values) = ([], []) }
        }
        return values[Int(id.slot)].take()
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
}

extension SlotTable: Sendable where Value: Sendable {}
