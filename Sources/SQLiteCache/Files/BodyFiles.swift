import Foundation
import SynchronizerSupport

/// The body files of a generation. Each is named by the ID of its entry.
///
/// A file is settled while its entry is in the database. A writer holds the lock of the database while it writes a new
/// file to the moving ones, and settles it after the commit. It moves the file of a removed entry there before the commit,
/// and deletes it afterwards. So a process may be killed at any moment: the next process that has the lock settles the
/// moving files that have an entry, and deletes the others.
///
/// No file is synced. A body that a power failure cuts short has a wrong checksum, and is dropped.
struct BodyFiles: Hashable, Sendable {
    let settled: String
    let moving: String

    func settledPath(_ id: Int64) -> String { "\(settled)/\(id)" }
    func movingPath(_ id: Int64) -> String { "\(moving)/\(id)" }
    func paths(_ id: Int64) -> [String] { [settledPath(id), movingPath(id)] }

    /// The bytes that a file of that length takes on most file systems.
    static func allocatedBytes(length: Int64) -> Int64 { max(0, min(length, 1 << 48) + 4095) / 4096 * 4096 }

    // MARK: - Writing, under the lock of the database

    /// Writes a new file, which is moving.
    func write(_ body: Data, id: Int64) throws(SQLiteFailure) {
        let path = movingPath(id)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("\(path) can't be made") }
        let isWritten = body.withUnsafeBytes { Self.writeFully($0, to: file) }
        let failure = SQLiteFailure.system("\(path) can't be written")
        guard close(file) == 0, isWritten else {
            unlink(path)
            throw failure
        }
    }

    private static func writeFully(_ buffer: UnsafeRawBufferPointer, to file: Int32) -> Bool {
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

    /// Moves the file of an entry that is about to be removed; returns the bytes that it takes on the disk.
    func moveAway(_ id: Int64) -> Int64 {
        guard let status = FileSystem.status(settledPath(id)) else { return 0 }
        let hasMoved = rename(settledPath(id), movingPath(id)) == 0
        return hasMoved ? Self.allocatedBytes(length: Int64(status.st_size)) : 0
    }

    /// Settles a file whose entry is in the database. If that fails, lookups read the file where it is, and the next
    /// transaction settles it.
    @inline(never)
    func settle(_ id: Int64) {
        if rename(movingPath(id), settledPath(id)) == 0 || (errno != ENOENT && errno != ENOTDIR) { return }
        try? prepare()
        rename(movingPath(id), settledPath(id))
    }

    /// Makes the directories if they do not exist, replacing anything else.
    func prepare() throws(SQLiteFailure) {
        for directory in [settled, moving] where try !FileSystem.makeDirectory(directory) {
            if FileSystem.status(directory)?.isDirectory == true { continue }
            FileSystem.remove(directory)
            _ = try FileSystem.makeDirectory(directory)
        }
    }

    /// Deletes the file of an entry that has been removed. Another process that has just stored the entry may settle the
    /// file at this moment; then it is found there.
    @inline(never)
    func discard(_ id: Int64) {
        unlink(movingPath(id))
        unlink(settledPath(id))
    }

    /// Settles or deletes the files that a killed process has left.
    @inline(never)
    func settleAll(whoseEntryExists exists: (Int64) throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) {
        for name in try FileSystem.names(in: moving) ?? [] {
            guard let id = Int64(name), String(id) == name else {
                FileSystem.remove(moving + "/" + name)
                continue
            }
            if try exists(id) { settle(id) } else { discard(id) }
        }
    }

    /// Deletes the settled files without an entry; returns the bytes that the others take on the disk.
    func sweep(whoseEntryExists exists: (Int64) throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) -> Int64 {
        var bytes: Int64 = 0
        for name in try FileSystem.names(in: settled) ?? [] {
            let path = settled + "/" + name
            if let id = Int64(name), String(id) == name, try exists(id) {
                bytes += Self.allocatedBytes(length: Int64(FileSystem.status(path)?.st_size ?? 0))
            } else {
                FileSystem.remove(path)
            }
        }
        return bytes
    }
}
