import Foundation

/// Where a large body is: a file that is named by its content.
///
/// No file is synced: a body that a power failure cuts short fails its digest, and is dropped.
struct BodyFile: Hashable, Sendable {
    let digest: UInt64
    let length: Int
    /// 0, or more where two bodies share digest and length.
    let number: Int64

    init(digest: UInt64, length: Int, number: Int64) {
        self.digest = digest
        self.length = length
        self.number = number
    }

    /// Takes a file's name apart; nil if it is none of ours.
    init?(name: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let digest = UInt64(parts[0], radix: 16), let length = Int(parts[1]),
            let number = Int64(parts[2])
        else { return nil }
        self.init(digest: digest, length: length, number: number)
        guard self.name == name else { return nil }
    }

    private var name: String {
        let digits = String(unsafeUninitializedCapacity: 16) { buffer in
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: digest >> (60 - 4 * UInt64(index))) & 15
                buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 16
        }
        return "\(digits)-\(length)-\(number)"
    }

    func path(in directory: CacheDirectory) -> String {
        directory.bodies + "/" + name
    }

    /// Writes a new file that only its owner can read; false, and no file, if that fails.
    static func write(_ body: Data, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let isWritten = body.withUnsafeBytes { writeFully(file, $0) }
        guard close(file) == 0, isWritten else {
            unlink(path)
            return false
        }
        return true
    }

    private static func writeFully(_ file: Int32, _ buffer: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < buffer.count {
            guard let start = buffer.baseAddress else { return false }
            let count = Foundation.write(file, start + done, buffer.count - done)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Whether a file holds exactly these bytes.
    static func holds(_ body: Data, at path: String) -> Bool {
        OpenBody(path, length: body.count)?.read() == body
    }
}
