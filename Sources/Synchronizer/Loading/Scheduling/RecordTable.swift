/// Values by ID, in one array: no hashing, no gaps except free indices, and a few bytes besides the values.
///
/// Numbers and values are in separate arrays, so comparing numbers copies no values.
struct RecordTable<Value> {
    /// The number of each value's ID; 0 for a free index.
    private var numbers: [UInt32] = []
    private var values: [Value?] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The IDs of all values, by index.
    var ids: [RecordID] {
        numbers.indices.filter { numbers[$0] != 0 }.map { RecordID(index: UInt32($0), number: numbers[$0]) }
    }

    /// The value with that ID.
    ///
    /// Read-only, because a change through a subscript allocates memory for a coroutine. Such changes made 26 of the 78
    /// allocations of a load from the disk (`Documentation/Benchmarks.md`).
    subscript(id: RecordID) -> Value? {
        // Inlined, so that a caller that reads one property copies only that property.
        @inline(__always) get { contains(id) ? values[Int(id.index)] : nil }
    }

    func contains(_ id: RecordID) -> Bool {
        let index = Int(id.index)
        return index < numbers.count && numbers[index] == id.number
    }

    /// Changes the value with that ID, if there is one; returns what the change returns.
    @discardableResult
    mutating func update<Result>(_ id: RecordID, _ change: (inout Value) -> Result) -> Result? {
        guard contains(id), var value = values[Int(id.index)].take() else { return nil }
        defer { values[Int(id.index)] = value }
        return change(&value)
    }

    /// Removes the value and returns it.
    @discardableResult
    mutating func remove(_ id: RecordID) -> Value? {
        guard contains(id) else { return nil }
        defer {
            numbers[Int(id.index)] = 0
            count -= 1
            if count == 0, numbers.count > RecordIDs.kept { (numbers, values) = ([], []) }
        }
        return values[Int(id.index)].take()
    }

    /// Adds a value. It replaces an older one at the same index.
    mutating func insert(_ value: Value, as id: RecordID) {
        let index = Int(id.index)
        while numbers.count < index {
            numbers.append(0)
            values.append(nil)
        }
        if index == numbers.count {
            numbers.append(id.number)
            values.append(value)
            count += 1
        } else {
            if numbers[index] == 0 { count += 1 }
            numbers[index] = id.number
            values[index] = value
        }
    }
}

extension RecordTable: Sendable where Value: Sendable {}
