import Foundation

/// A body file that is open for reading. It is read and not mapped: should somebody cut the file off, reading fails, and
/// a mapping would end the process.
struct OpenBody: ~Copyable {
    /// As of when it was opened.
    let stamp: FileStamp
    private let file: Int32
    private let length: Int

    /// A multiple of the digest's blocks, that the processor's cache holds.
    private static let pieceSize = 256 << 10

    /// nil if there is no file of that length.
    init?(_ path: String, length: Int) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        guard let stamp = FileStamp(of: file), stamp.size == length, length > 0 else {
            close(file)
            return nil
        }
        self.file = file
        self.stamp = stamp
        self.length = length
    }

    deinit {
        close(file)
    }

    /// Whether nobody has written to it since it was opened.
    var isUntouched: Bool { FileStamp(of: file) == stamp }

    /// The body; nil if it can't be read.
    func read() -> Data? {
        fill { fillFully($0, at: 0) }
    }

    /// The body and its digest, in one pass: each piece is digested while it is still in the processor's cache.
    func readDigesting() -> (body: Data, digest: UInt64)? {
        var digest = Digest()
        let body = fill { buffer in
            for position in stride(from: 0, to: length, by: Self.pieceSize) {
                let piece = UnsafeMutableRawBufferPointer(
                    rebasing: buffer[position..<min(position + Self.pieceSize, length)])
                guard fillFully(piece, at: position) else { return false }
                digest.combine(UnsafeRawBufferPointer(piece))
            }
            return true
        }
        return body.map { ($0, digest.value) }
    }

    private func fill(_ body: (UnsafeMutableRawBufferPointer) -> Bool) -> Data? {
        guard let memory = malloc(length) else { return nil }
        guard body(UnsafeMutableRawBufferPointer(start: memory, count: length)) else {
            free(memory)
            return nil
        }
        return Data(bytesNoCopy: memory, count: length, deallocator: .free)
    }

    private func fillFully(_ buffer: UnsafeMutableRawBufferPointer, at position: Int) -> Bool {
        var done = 0
        while done < buffer.count {
            guard let start = buffer.baseAddress else { return false }
            let count = pread(file, start + done, buffer.count - done, off_t(position + done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}
