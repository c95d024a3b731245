import Foundation
import SynchronizerSupport

/// The result of reading a body from the disk.
enum BodyReadResult {
    case complete(Data)
    /// The file does not exist. Its entry may have been removed a moment ago.
    case missing
    case corrupt
    /// The file can't be read at the moment, which says nothing about it.
    case unreadable
}

extension BodyFiles {
    /// A multiple of the checksum's block size that fits into the processor's cache.
    private static let pieceSize = 256 << 10

    /// Reads the body of an entry, and verifies each byte. It is read and never mapped: touching a mapped page beyond the
    /// end of a truncated file would end the process.
    ///
    /// - Parameter generation: the directory of the generation.
    static func read(_ id: Int64, expecting body: StoredBody, in generation: OpenDirectory) -> BodyReadResult {
        // Between two attempts another process may settle the file, or move it away.
        for name in ["Bodies/\(id)", "Moving/\(id)", "Bodies/\(id)"] {
            let result = read(name, expecting: body, in: generation)
            if case .missing = result { continue }
            return result
        }
        return .missing
    }

    private static func read(
        _ name: String, expecting body: StoredBody, in generation: OpenDirectory
    ) -> BodyReadResult {
        let file = openat(generation.descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return .missing
            case ELOOP, ENXIO: return .corrupt  // a link, a socket
            default: return .unreadable
            }
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return .unreadable }
        guard status.isRegularFile, Int(status.st_size) == body.length, body.length > 0 else { return .corrupt }
        guard let memory = malloc(body.length) else { return .unreadable }
        let data = Data(bytesNoCopy: memory, count: body.length, deallocator: .free)
        var checksum = Checksum64()
        for position in stride(from: 0, to: body.length, by: pieceSize) {
            let piece = UnsafeMutableRawBufferPointer(
                start: memory + position, count: min(pieceSize, body.length - position))
            guard let isComplete = fill(piece, from: file, at: position) else { return .unreadable }
            guard isComplete else { return .corrupt }
            checksum.combine(UnsafeRawBufferPointer(piece))
        }
        return checksum.value == body.checksum ? .complete(data) : .corrupt
    }

    /// Returns false if the file is too short, and nil if it can't be read.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer, from file: Int32, at position: Int) -> Bool? {
        var done = 0
        while done < buffer.count {
            guard let start = buffer.baseAddress else { return nil }
            let count = pread(file, start + done, buffer.count - done, off_t(position + done))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return false }
            done += count
        }
        return true
    }
}
