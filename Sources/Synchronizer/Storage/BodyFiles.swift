import Foundation

/// The body files of a generation, each named by the ID of its entry.
///
/// A file is settled while its entry is in the database. A writer writes a new file among the moving ones, under the lock
/// of the database, and settles it after the commit; a file whose entry goes is moved there before the commit and removed
/// after it. So a process may be killed at any moment: who next has the lock settles the moving files that have an entry,
/// and removes the others.
///
/// No file is synced: a body that a power failure cuts short fails its digest, and is dropped.
struct BodyFiles: Hashable, Sendable {
    let settled: String
    let moving: String

    /// A multiple of the digest's blocks, that the processor's cache holds.
    private static let pieceSize = 256 << 10

    func settledPath(_ id: Int64) -> String { "\(settled)/\(id)" }
    func movingPath(_ id: Int64) -> String { "\(moving)/\(id)" }

    /// What a file of that length takes on most file systems, in bytes.
    static func blocks(_ length: Int64) -> Int64 { max(0, min(length, 1 << 48) + 4095) / 4096 * 4096 }

    // MARK: - Reading

    /// The body of an entry, each byte of it verified. It is read, never mapped: touching a mapped page beyond the end of
    /// a file that was cut off would end the process.
    func read(_ id: Int64, _ body: StoredBody) -> DiskBody {
        // The file may be settled, or moved away, between the looks.
        for path in [settledPath(id), movingPath(id), settledPath(id)] {
            let answer = Self.read(path, body)
            if case .missing = answer { continue }
            return answer
        }
        return .missing
    }

    private static func read(_ path: String, _ body: StoredBody) -> DiskBody {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return .missing
            case ELOOP, ENXIO: return .damaged  // a link, a socket
            default: return .unreadable
            }
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return .unreadable }
        guard status.isRegularFile, Int(status.st_size) == body.length, body.length > 0 else { return .damaged }
        guard let memory = malloc(body.length) else { return .unreadable }
        let data = Data(bytesNoCopy: memory, count: body.length, deallocator: .free)
        var digest = Digest()
        for position in stride(from: 0, to: body.length, by: pieceSize) {
            let piece = UnsafeMutableRawBufferPointer(
                start: memory + position, count: min(pieceSize, body.length - position))
            guard let isWhole = fill(piece, from: file, at: position) else { return .unreadable }
            guard isWhole else { return .damaged }
            digest.combine(UnsafeRawBufferPointer(piece))
        }
        return digest.value == body.digest ? .whole(data) : .damaged
    }

    /// False if the file ends before; nil if it can't be read.
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

    // MARK: - Writing, under the lock of the database

    /// Writes a new file, among the moving ones.
    func write(_ body: Data, _ id: Int64) throws(SQLiteFailure) {
        let path = movingPath(id)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("\(path) can't be made") }
        let isWritten = body.withUnsafeBytes { Self.writeFully(file, $0) }
        let failure = SQLiteFailure.system("\(path) can't be written")
        guard close(file) == 0, isWritten else {
            unlink(path)
            throw failure
        }
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

    /// Moves the file of an entry away that is about to be removed; returns what it takes on the disk, in bytes.
    func moveAway(_ id: Int64) -> Int64 {
        guard let status = FileSystem.status(settledPath(id)) else { return 0 }
        return rename(settledPath(id), movingPath(id)) == 0 ? Self.blocks(Int64(status.st_size)) : 0
    }

    /// Settles a file whose entry is in the database. Where that fails it is read where it is, and settled later.
    func settle(_ id: Int64) {
        if rename(movingPath(id), settledPath(id)) == 0 || (errno != ENOENT && errno != ENOTDIR) { return }
        try? prepare()
        rename(movingPath(id), settledPath(id))
    }

    /// Makes the directories if they are not there, also in place of something else.
    func prepare() throws(SQLiteFailure) {
        for directory in [settled, moving] where try !FileSystem.makeDirectory(directory) {
            if FileSystem.status(directory)?.isDirectory == true { continue }
            FileSystem.remove(directory)
            _ = try FileSystem.makeDirectory(directory)
        }
    }

    /// Removes a file whose entry is gone.
    func discard(_ id: Int64) { unlink(movingPath(id)) }

    /// Deals with the files that a process has left which was killed.
    func settleAll(whoseEntryExists exists: (Int64) throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) {
        for name in try FileSystem.names(in: moving) ?? [] {
            if let id = Int64(name), String(id) == name, try exists(id) {
                settle(id)
            } else {
                FileSystem.remove(moving + "/" + name)
            }
        }
    }

    /// Removes the files that have no entry; returns what the others take on the disk, in bytes.
    func sweep(whoseEntryExists exists: (Int64) throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) -> Int64 {
        var bytes: Int64 = 0
        for name in try FileSystem.names(in: settled) ?? [] {
            let path = settled + "/" + name
            if let id = Int64(name), String(id) == name, try exists(id) {
                bytes += Self.blocks(Int64(FileSystem.status(path)?.st_size ?? 0))
            } else {
                FileSystem.remove(path)
            }
        }
        return bytes
    }
}

/// What the disk has of a body.
enum DiskBody {
    case whole(Data)
    /// There is no file; its entry may have been removed a moment ago.
    case missing
    case damaged
    /// It could not be read for now, which says nothing about it.
    case unreadable
}
