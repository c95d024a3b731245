import Foundation
import HTTPCaching
import SynchronizerSupport

/// A partial body that an earlier load has kept, as its record describes it. Its bytes are verified when it is opened.
package struct KeptPartial: Sendable {
    let place: PartialFiles
    let name: String
    /// The response (status 206), with the part up to the last checkpoint.
    package let response: StoredResponse
    /// The bytes up to the last checkpoint, and their checksum.
    package let count: Int
    let checksum: UInt64
    /// The length of the record up to the last checkpoint.
    let recordLength: Int

    /// Reads a record; nil if it is malformed, if it has no checkpoint, or if no byte of the body is missing.
    init?(in place: PartialFiles, name: String) {
        guard let bytes = FileSystem.contents(of: place.recordPath(name), limit: PartialRecord.largest),
            let (stored, checkpoint, length) = PartialRecord.decode(bytes), checkpoint.count > 0,
            checkpoint.count < stored.part?.completeLength ?? .max
        else { return nil }
        let part = StoredResponse.Part(range: 0..<checkpoint.count, completeLength: stored.part?.completeLength)
        var response = stored
        response.part = part
        response.fields[FieldName.contentRange] = part.contentRange
        response.fields[FieldName.contentLength] = String(checkpoint.count)
        (self.place, self.name, self.response) = (place, name, response)
        (count, checksum, recordLength) = (checkpoint.count, checkpoint.checksum, length)
    }

    /// Opens the file to append the rest; nil if its bytes do not match the checkpoint, or if another load is writing it.
    package func open() -> PartialFile? { PartialFile(going: self) }

    /// Whether its record still has the same last checkpoint.
    var isCurrent: Bool {
        let now = KeptPartial(in: place, name: name)
        return now?.count == count && now?.checksum == checksum
    }

    /// Identifies it among all partial bodies.
    package var id: String { place.path(name) }

    /// Removes the file, unless another load has continued it since then.
    package func remove() {
        place.whileIdle(name) { if isCurrent { place.remove(name) } }
    }
}

/// The record of an incoming body: an encoded response, and checkpoints at the end of the file.
enum PartialRecord {
    struct Checkpoint {
        var count: Int
        var checksum: UInt64
    }

    /// The limit of a record, in bytes. A head has at most some hundred kilobytes, and a checkpoint stands for a megabyte of body.
    static let largest = 4 << 20
    private static let checkpointSize = 24

    static func encode(_ response: StoredResponse) -> Data {
        let record = EncodedRecord(StoredRecord(response)).bytes
        var bytes = withUnsafeBytes(of: UInt64(record.count).littleEndian) { Data($0) }
        bytes.append(contentsOf: record)
        append(record.withUnsafeBytes { Checksum64.of($0) }, to: &bytes)
        return bytes
    }

    static func encode(_ checkpoint: Checkpoint) -> Data {
        var bytes = withUnsafeBytes(of: UInt64(checkpoint.count).littleEndian) { Data($0) }
        append(checkpoint.checksum, to: &bytes)
        append(bytes.withUnsafeBytes { Checksum64.of($0) }, to: &bytes)
        return bytes
    }

    private static func append(_ number: UInt64, to bytes: inout Data) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// The response and the last checkpoint before any that is cut short or corrupt, and the length up to there; nil if the bytes
    /// are no record.
    static func decode(_ data: Data) -> (response: StoredResponse, last: Checkpoint, length: Int)? {
        data.withUnsafeBytes { bytes in
            guard let length = number(in: bytes, at: 0).flatMap({ Int(exactly: $0) }), length <= largest,
                length + 16 <= bytes.count,
                number(in: bytes, at: 8 + length) == checksum(of: bytes, in: 8..<(8 + length)),
                let record = EncodedRecord(UnsafeRawBufferPointer(rebasing: bytes[8..<(8 + length)]))?.decoded
            else { return nil }
            var (last, end) = (Checkpoint(count: 0, checksum: 0), 16 + length)
            for start in stride(from: 16 + length, through: bytes.count - checkpointSize, by: checkpointSize) {
                guard let count = number(in: bytes, at: start).flatMap({ Int(exactly: $0) }),
                    let checksum = number(in: bytes, at: start + 8),
                    number(in: bytes, at: start + 16) == self.checksum(of: bytes, in: start..<(start + 16))
                else { break }
                (last, end) = (Checkpoint(count: count, checksum: checksum), start + checkpointSize)
            }
            return (record.response, last, end)
        }
    }

    private static func number(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64? {
        guard offset + 8 <= bytes.count else { return nil }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func checksum(of bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> UInt64 {
        Checksum64.of(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
}
