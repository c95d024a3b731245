/// The ID of a record in a ``SlotTable``: a slot, which is reused, and a number, which is not. So the ID of a removed record
/// finds nothing, instead of another record.
struct SlotID: Hashable, Sendable {
    let slot: UInt32
    /// 1 for the first.
    let number: UInt32
}

/// Creates IDs; reuses the slot that was freed last.
struct SlotIDs: Sendable {
    /// How many slots are kept when none is in use, so that occasional loads allocate nothing for them.
    static let kept = 256

    private var free: [UInt32] = []
    private var used: UInt32 = 0
    private var lastNumber: UInt32 = 0

    /// Whether all IDs have been given back.
    var isIdle: Bool { free.count == used }

    mutating func take() -> SlotID {
        lastNumber = lastNumber == .max ? 1 : lastNumber + 1
        if let slot = free.popLast() { return SlotID(slot: slot, number: lastNumber) }
        used += 1
        return SlotID(slot: used - 1, number: lastNumber)
    }

    /// Frees the slot. Call it once for each ID.
    mutating func giveBack(_ id: SlotID) {
        free.append(id.slot)
        guard isIdle, used > Self.kept else { return }
        free = []
        used = 0
    }
}
