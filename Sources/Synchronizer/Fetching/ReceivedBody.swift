import Foundation

/// The bytes of a body while they arrive. A large one is in pages of its own, because bodies come and go between what
/// stays, such as the images that are made of them.
struct ReceivedBody: Sendable {
    /// Bodies from this size on are in pages of their own: 128 KB, as glibc's are as long as nothing larger was freed.
    static let large = 128 << 10
    /// Pages of its own take memory only when they are written to, so a length may reserve as much as this.
    private static let largestReservation = 1 << 30

    /// What has come, and room for more.
    private var room = Data()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// What has come so far; it shares its memory with this.
    var data: Data { count == room.count ? room : room.prefix(count) }

    /// - Parameter length: The length of the whole, where it is known.
    mutating func append(_ data: Data, of length: Int?) {
        let needed = count + data.count
        if isEmpty, needed >= length ?? 0 {
            room = data  // mostly all there is: no copy
        } else if max(needed, length ?? 0) < Self.large {
            if let length, isEmpty { room.reserveCapacity(length) }
            room.append(data)
        } else {
            if needed > room.count { makeRoom(beyond: needed, length ?? 0) }
            write(data)
        }
        count = needed
    }

    private mutating func makeRoom(beyond needed: Int, _ length: Int) {
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
