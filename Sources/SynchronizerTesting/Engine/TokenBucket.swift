import Foundation

/// A token bucket: decides how many bytes may be sent now, so that a bandwidth is not exceeded. Pure.
struct TokenBucket {
    let bytesPerSecond: Double
    private var tokens: Double = 0
    private var updated: TimeInterval

    init(bytesPerSecond: Int, now: TimeInterval) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        updated = now
    }

    /// The bytes of one slot: ten milliseconds' worth, so that many connections share the link evenly.
    var slotSize: Int { Int(min(65_536, max(256, bytesPerSecond / 100))) }

    /// How many of the wanted bytes may be sent now: as many as fit into a slot, or none.
    mutating func allowance(for wanted: Int, now: TimeInterval) -> Int {
        tokens = min(Double(slotSize) * 4, tokens + (now - updated) * bytesPerSecond)
        updated = now
        let share = min(wanted, slotSize)
        return tokens >= Double(share) ? share : 0
    }

    mutating func spend(_ bytes: Int) {
        tokens -= Double(bytes)
    }

    /// When there will be tokens for a whole slot.
    var nextSlot: TimeInterval { updated + max(0, Double(slotSize) - tokens) / bytesPerSecond }
}
