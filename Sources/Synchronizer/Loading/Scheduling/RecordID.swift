/// The ID of a record in a ``RecordTable``: an index, which is reused, and a number, which is not. So the ID of a removed record
/// finds nothing, instead of another record.
struct RecordID: Hashable, Sendable {
    let index: UInt32
    /// 1 for the first.
    let number: UInt32
}

/// Creates IDs; reuses the index that was freed last.
struct RecordIDs: Sendable {
    /// How many indices are kept when none is in use, so that occasional loads allocate nothing for them.
    static let kept = 256

    private var free: [UInt32] = []
    private var used: UInt32 = 0
    private var lastNumber: UInt32 = 0

    /// Whether all IDs have been given back.
    var isIdle: Bool { free.count == used }

    mutating func take() -> RecordID {
        lastNumber = lastNumber == .max ? 1 : lastNumber + 1
        if let index = free.popLast() { return RecordID(index: index, number: lastNumber) }
        used += 1
        return RecordID(index: used - 1, number: lastNumber)
    }

    /// Frees the index. Call it once for each ID.
    mutating func giveBack(_ id: RecordID) {
        free.append(id.index)
        guard isIdle, used > Self.kept else { return }
        free = []
        used = 0
    }
}
