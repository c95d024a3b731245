import Foundation
import SynchronizerSupport

/// Reads and writes whole buffers at positions of an open file.
enum Descriptor {
    /// A multiple of the checksum's block size that fits into the processor's cache.
    static let pieceSize = 256 << 10

    /// Returns false, with `errno`, if not all bytes could be written.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at position: Int) -> Bool {
        guard FileSizeLimit.allows(position + bytes.count) else { return false }
        var done = 0
        while done < bytes.count {
            guard let start = bytes.baseAddress else { return false }
            let count = pwrite(file, start + done, bytes.count - done, off_t(position + done))
            if count < 0 && errno == EINTR { continue }
            if count == 0 { errno = ENOSPC }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Passes the bytes of a range to `body` in pieces; returns false if the file is too short or can't be read.
    static func read(
        _ range: Range<Int>, of file: Int32, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: min(pieceSize, max(1, range.count)), alignment: 64) { buffer in
            var position = range.lowerBound
            while position < range.upperBound {
                let wanted = min(buffer.count, range.upperBound - position)
                let count = pread(file, buffer.baseAddress, wanted, off_t(position))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                position += count
            }
            return true
        }
    }

    /// The checksum of a part of a file; nil if the file is too short or can't be read.
    static func checksum(of range: Range<Int>, in file: Int32) -> RunningChecksum? {
        var checksum = RunningChecksum()
        return read(range, of: file) { checksum.add($0) } ? checksum : nil
    }

    /// The bytes that the file system of an open file has left for this user; nil if it doesn't say.
    static func freeBytes(_ file: Int32) -> Int? {
        var status = statvfs()
        guard fstatvfs(file, &status) == 0 else { return nil }
        let (bytes, overflow) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int(clamping: status.f_frsize))
        return overflow ? .max : bytes
    }
}
