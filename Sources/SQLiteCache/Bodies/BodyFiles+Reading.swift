import Foundation
import SynchronizerSupport

/// The result of reading a body from the disk, or of opening its file.
enum BodyResult<Body> {
    case complete(Body)
    /// The file does not exist. Its entry may have been removed a moment ago.
    case missing
    case corrupt
    /// The file can't be read at the moment. It may be intact.
    case unreadable

    fileprivate func flatMap<Other>(_ transform: (Body) -> BodyResult<Other>) -> BodyResult<Other> {
        switch self {
        case .complete(let body): transform(body)
        case .missing: .missing
        case .corrupt: .corrupt
        case .unreadable: .unreadable
        }
    }
}

typealias BodyReadResult = BodyResult<Data>

extension BodyFiles {
    /// Reads the body of an entry, and verifies each byte unless `verified` has the file. The file is never mapped: touching a
    /// mapped page beyond the end of a truncated file would end the process.
    ///
    /// - Parameters:
    ///   - generation: the directory of the generation.
    ///   - verified: the large files that need not be verified again.
    static func read(
        _ id: Int64, expecting body: StoredBody, in generation: OpenDirectory, verified: VerifiedFiles
    ) -> BodyReadResult {
        open(id, in: generation).flatMap { file in
            defer { close(file) }
            if body.length <= Descriptor.pieceSize { return read(file, expecting: body, checksum: Checksum64()) }
            return readLarge(file, id: id, expecting: body, verified: verified)
        }
    }

    /// Opens the body file of an entry, and verifies each byte of it.
    static func openFile(
        _ id: Int64, expecting body: StoredBody, in generation: OpenDirectory, at paths: [String]
    ) -> BodyResult<BodyFile> {
        open(id, in: generation).flatMap { file in
            let opened = BodyFile(descriptor: file, at: paths, count: body.length, checksum: body.checksum)
            var status = stat()
            guard fstat(file, &status) == 0 else { return .unreadable }
            guard status.isRegularFile, status.st_size == body.length else { return .corrupt }
            guard let checksum = Descriptor.checksum(of: 0..<body.length, in: file) else { return .unreadable }
            return checksum.value == body.checksum ? .complete(opened) : .corrupt
        }
    }

    private static func open(_ id: Int64, in generation: OpenDirectory) -> BodyResult<Int32> {
        // Between two attempts another process may move the file from one directory to the other.
        for directory: StaticString in ["Bodies/", "Moving/", "Bodies/"] {
            let file = open(directory, id: id, in: generation)
            if file >= 0 { return .complete(file) }
            if errno == ENOENT || errno == ENOTDIR { continue }
            // A link fails with ELOOP, a socket with ENXIO.
            return errno == ELOOP || errno == ENXIO ? .corrupt : .unreadable
        }
        return .missing
    }

    /// Opens a body file for reading. It makes the path without a `String`, because each lookup of a body in a file calls it.
    private static func open(_ directory: StaticString, id: Int64, in generation: OpenDirectory) -> Int32 {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { path in
            guard id >= 0, let base = path.baseAddress else {  // only a corrupt row has a negative identifier
                errno = ENOENT
                return -1
            }
            var (rest, start) = (id.magnitude, 31)
            path[start] = 0
            repeat {
                start -= 1
                path[start] = CChar(UInt8(ascii: "0") + UInt8(rest % 10))
                rest /= 10
            } while rest > 0
            for index in (0..<directory.utf8CodeUnitCount).reversed() {
                start -= 1
                path[start] = CChar(directory.utf8Start[index])
            }
            return openat(generation.descriptor, base + start, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        }
    }

    /// Reads a large file, and verifies it only if `verified` does not have it: verifying takes longer than reading.
    private static func readLarge(
        _ file: Int32, id: Int64, expecting body: StoredBody, verified: VerifiedFiles
    ) -> BodyReadResult {
        let start = FileStamp.now()
        guard let stamp = FileStamp(file) else { return .unreadable }
        guard stamp.length == body.length else { return .corrupt }
        let isVerified = verified.contains(id, stamp: stamp)
        let result = read(file, expecting: body, checksum: isVerified ? nil : Checksum64())
        guard case .complete = result else { return result }
        if FileStamp(file) == stamp {
            if !isVerified { verified.insert(id, stamp: stamp, at: start) }
            return result
        }
        return isVerified ? read(file, expecting: body, checksum: Checksum64()) : result
    }

    /// - Parameter checksum: nil if the file need not be verified.
    private static func read(_ file: Int32, expecting body: StoredBody, checksum: Checksum64?) -> BodyReadResult {
        guard let memory = malloc(body.length + 1) else { return .unreadable }
        let data = Data(bytesNoCopy: memory, count: body.length, deallocator: .free)
        var checksum = checksum
        for position in stride(from: 0, to: body.length, by: Descriptor.pieceSize) {
            let count = min(Descriptor.pieceSize, body.length - position)
            guard let read = fill(memory + position, count: count, from: file, at: position) else {
                return errno == ESPIPE || errno == EISDIR ? .corrupt : .unreadable
            }
            guard read == count || (read > count && position + count < body.length) else { return .corrupt }
            checksum?.combine(UnsafeRawBufferPointer(start: memory + position, count: count))
        }
        return checksum == nil || checksum?.value == body.checksum ? .complete(data) : .corrupt
    }

    /// Reads `count` bytes, and one more byte if there is one, so that the caller notices a file that is too long.
    ///
    /// - Returns: how many bytes were read; nil, with `errno`, if the file can't be read.
    private static func fill(_ start: UnsafeMutableRawPointer, count: Int, from file: Int32, at position: Int) -> Int? {
        var done = 0
        while done < count {
            let read = pread(file, start + done, count + 1 - done, off_t(position + done))
            if read < 0 && errno == EINTR { continue }
            guard read >= 0 else { return nil }
            if read == 0 { break }
            done += read
        }
        return done
    }
}

/// The large body files that this process has verified within the last minute, and that have not changed since.
///
/// After a minute the system may have dropped their bytes from memory, and read them from the disk again.
final class VerifiedFiles: Sendable {
    private let known = Locked<[Int64: (stamp: FileStamp, time: UInt64)]>([:])
    private let largestCount = 1024
    private let lifetime: UInt64 = 60_000_000_000
    private let now: @Sendable () -> UInt64

    /// - Parameter now: a clock, in nanoseconds.
    init(now: @escaping @Sendable () -> UInt64 = Uptime.now) {
        self.now = now
    }

    func contains(_ id: Int64, stamp: FileStamp) -> Bool {
        let now = now()
        return known.withLock { known in
            known[id].map { $0.stamp == stamp && now < $0.time + lifetime } ?? false
        }
    }

    /// Remembers a file, unless another change might leave the same stamp. A caller may map its hard link into memory: then the
    /// file system does not stamp each change.
    ///
    /// - Parameter moment: when the verification began. A later change must leave another stamp.
    func insert(_ id: Int64, stamp: FileStamp, at moment: Int64) {
        guard stamp.names == 1, stamp.isSettled(at: moment) else { return }
        let now = now()
        known.withLock { known in
            if known.count >= largestCount { known = [:] }
            known[id] = (stamp, now)
        }
    }
}
