import Foundation

/// The bytes of a body while they arrive. A large body has memory pages of its own, so that freeing it leaves no gap between
/// longer-lived allocations, such as decoded images.
struct ReceivedBody: Sendable {
    /// Bodies of at least this size get pages of their own: 128 KB, the initial threshold of glibc.
    static let large = 128 << 10
    /// The most bytes to reserve for a stated length: pages of its own take memory only when they are written.
    private static let largestReservation = 1 << 30

    /// The bytes so far, and room for more.
    private var room = Data()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The bytes so far, without a copy.
    @inline(never)
    var data: Data { count == room.count ? room : room.prefix(count) }

    /// - Parameter length: the length of the whole body if known.
    mutating func append(_ data: Data, of length: Int?) {
        let needed = count + data.count
        if isEmpty, needed >= length ?? 0 {
            room = data  // usually the whole body: no copy
        } else if max(needed, length ?? 0) < Self.large {
            if let length, isEmpty { room.reserveCapacity(length) }
            room.append(data)
        } else {
            if needed > room.count { makeRoom(for: needed, length: length ?? 0) }
            write(data)
        }
        count = needed
    }

    private mutating func makeRoom(for needed: Int, length: Int) {
        let before = data
        let reservation = max(2 * needed, Self.largestReservation)
        room = .inOwnPages(count: length > needed ? min(length, reservation) : 2 * needed)
        count = 0
        write(before)
        count = before.count
    }

    private mutating func write(_ data: Data) {
        room.withUnsafeMutableBytes { bytes in
            data.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: $0) }
        }
    }
}
