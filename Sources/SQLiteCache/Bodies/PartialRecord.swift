import Foundation
import HTTPCaching
import SynchronizerSupport

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
        var bytes = Data()
        bytes.append(littleEndian: UInt64(record.count))
        bytes.append(contentsOf: record)
        bytes.append(littleEndian: record.withUnsafeBytes { Checksum64.of($0) })
        return bytes
    }

    static func encode(_ checkpoint: Checkpoint) -> Data {
        var bytes = Data()
        bytes.append(littleEndian: UInt64(checkpoint.count))
        bytes.append(littleEndian: checkpoint.checksum)
        bytes.append(littleEndian: bytes.withUnsafeBytes { Checksum64.of($0) })
        return bytes
    }

    /// The response and the last checkpoint before any that is cut short or corrupt, and the length up to there; nil if the bytes
    /// are no record.
    static func decode(_ data: Data) -> (response: StoredResponse, last: Checkpoint, length: Int)? {
        data.withUnsafeBytes { bytes in
            guard let length = bytes.number(at: 0).flatMap({ Int(exactly: $0) }), length <= largest,
                length + 16 <= bytes.count,
                bytes.number(at: 8 + length) == checksum(of: bytes, in: 8..<(8 + length)),
                let record = EncodedRecord(UnsafeRawBufferPointer(rebasing: bytes[8..<(8 + length)]))?.decoded
            else { return nil }
            var (last, end) = (Checkpoint(count: 0, checksum: 0), 16 + length)
            for start in stride(from: 16 + length, through: bytes.count - checkpointSize, by: checkpointSize) {
                guard let count = bytes.number(at: start).flatMap({ Int(exactly: $0) }),
                    let checksum = bytes.number(at: start + 8),
                    bytes.number(at: start + 16) == self.checksum(of: bytes, in: start..<(start + 16))
                else { break }
                (last, end) = (Checkpoint(count: count, checksum: checksum), start + checkpointSize)
            }
            return (record.response, last, end)
        }
    }

    private static func checksum(of bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> UInt64 {
        Checksum64.of(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
}
