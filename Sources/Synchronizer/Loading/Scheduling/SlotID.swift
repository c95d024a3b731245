/// Names something that is kept in a ``SlotTable``: a slot, which is used again and again, and a number, which is not.
/// So a name that has outlived its thing finds nothing, instead of something else.
struct SlotID: Hashable, Sendable {
    let slot: UInt32
    /// 1 for the first.
    let number: UInt32
}

/// Gives out names; the slot that was given back last comes first.
struct SlotIDs: Sendable {
    /// How many slots are kept when none is used any more, so that a load now and then allocates nothing for them.
    static let kept = 256

    private var free: [UInt32] = []
    private var used: UInt32 = 0
    private var lastNumber: UInt32 = 0

    /// Whether every name has been given back.
    var isIdle: Bool { free.count == used }

    mutating func take() -> SlotID {
        lastNumber = lastNumber == .max ? 1 : lastNumber + 1
        if let slot = free.popLast() { return SlotID(slot: slot, number: lastNumber) }
        used += 1
        return SlotID(slot: used - 1, number: lastNumber)
    }

    /// The name is not used any more. To be called once for each.
    mutating func giveBack(_ id: SlotID) {
        free.append(id.slot)
        guard isIdle, used > Self.kept else { return }
        free = []
        used = 0
    }
}
