import Foundation
import SynchronizerSupport

/// A body in an open file, which stays readable if its name is removed.
package final class BodyFile: Sendable {
    let descriptor: Int32
    /// The bytes of the file that are the body.
    let range: Range<Int>
    /// The checksum of these bytes.
    package let checksum: UInt64
    /// The file's writer, if the body has just arrived; nil for a body file of the cache.
    let partial: PartialFile?
    private let whole: BodyFile?
    private let paths: [String]

    package var count: Int { range.count }

    /// A body that has arrived.
    init(_ partial: PartialFile, checksum: UInt64) {
        self.partial = partial
        descriptor = partial.descriptor
        range = 0..<partial.count
        self.checksum = checksum
        (whole, paths) = (nil, [])
    }

    /// A body file of the cache, which is at one of the paths unless its entry was removed. This object closes the descriptor.
    init(descriptor: Int32, at paths: [String], count: Int, checksum: UInt64) {
        (self.descriptor, range, self.checksum) = (descriptor, 0..<count, checksum)
        (partial, whole, self.paths) = (nil, nil, paths)
    }

    private init(_ range: Range<Int>, of whole: BodyFile, checksum: UInt64) {
        (descriptor, self.range, self.checksum) = (whole.descriptor, range, checksum)
        (partial, self.whole, paths) = (nil, whole, [])
    }

    deinit {
        if partial == nil, whole == nil { close(descriptor) }
    }

    /// A part of the body; nil if the body is shorter, can't be read, or was changed. Reads the whole body, because a caller may
    /// have changed it through a hard link since it was opened: the part must be of the same bytes that are verified.
    package func part(_ bytes: Range<Int>) -> BodyFile? {
        guard bytes.upperBound <= count else { return nil }
        var (position, checksum) = (0, RunningChecksum())
        let isIntact: Void? = try? forEachPiece { piece in
            let found = bytes.clamped(to: position..<position + piece.count)
            let part = piece[(found.lowerBound - position)..<(found.upperBound - position)]
            checksum.add(UnsafeRawBufferPointer(rebasing: part))
            position += piece.count
        }
        guard isIntact != nil else { return nil }
        let inFile = (range.lowerBound + bytes.lowerBound)..<(range.lowerBound + bytes.upperBound)
        return BodyFile(inFile, of: self, checksum: checksum.value)
    }

    /// Passes the body to `body` in pieces. At the end, throws if these were not the bytes of the body: a caller may have a hard
    /// link to the file, and may have changed it since it was opened.
    package func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var checksum = RunningChecksum()
        let isRead = try Descriptor.read(range, of: descriptor) { piece in
            checksum.add(piece)
            try body(piece)
        }
        guard isRead, checksum.value == self.checksum else { throw FileError(.other, at: "a body", code: EIO) }
    }

    /// The whole body in memory; nil if it can't be read, or was changed.
    package var data: Data? {
        var data = Data(capacity: count)
        do { try forEachPiece { data.append(contentsOf: $0) } } catch { return nil }
        return data
    }

    /// Whether the file contains nothing but the body, so that it may be cloned or linked.
    var isWholeFile: Bool { whole == nil }

    /// The number of the file's names (hard links), not counting those at callers' destinations.
    var nameCount: Int {
        if let partial { return partial.nameCount }
        return FileSystem.isFile(descriptor, atOneOf: paths) ? 1 : 0
    }

    /// Whether another load may be writing the file.
    var isReleased: Bool { partial?.isReleased ?? false }

    /// Does not keep the file for a later load, because it was delivered or is not needed.
    package func drop() { partial?.drop() }

    /// Keeps the file for a later load, because it could not be delivered: that load need not request all of it again.
    package func keep() { partial?.keep() }
}
