import Foundation
import SynchronizerSupport

/// The body files of a generation. Each is named by the ID of its entry.
///
/// A file is in the directory `settled` while its entry is in the database. A writer holds the lock of the database while it
/// writes a new file to the directory `moving`, and settles the file after the commit: moves it to `settled`. It moves the file
/// of a removed entry to `moving` before the commit, and deletes the file afterwards. So a process may be killed at any moment:
/// the next process that has the lock settles the files in `moving` that have an entry, and deletes the others.
///
/// No file is synced. A body that a power failure cuts short has a wrong checksum, and is dropped.
struct BodyFiles: Hashable, Sendable {
    let settled: String
    let moving: String

    func settledPath(_ id: Int64) -> String { "\(settled)/\(id)" }
    func movingPath(_ id: Int64) -> String { "\(moving)/\(id)" }
    func paths(_ id: Int64) -> [String] { [settledPath(id), movingPath(id)] }

    // MARK: - Writing, under the lock of the database

    /// Writes a new file to `moving`.
    func write(_ body: Data, id: Int64) throws(SQLiteFailure) {
        let path = movingPath(id)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("\(path) can't be made") }
        let isWritten = body.withUnsafeBytes { Descriptor.write($0, to: file, at: 0) }
        let failure = SQLiteFailure.system("\(path) can't be written")
        guard close(file) == 0, isWritten else {
            unlink(path)
            throw failure
        }
    }

    /// Moves the file to `moving`, because its entry is about to be removed. A file that was not settled yet is already there.
    /// Returns the length of the file, or nil if there is no file.
    func moveAway(_ id: Int64) -> Int64? {
        rename(settledPath(id), movingPath(id))
        return FileSystem.status(movingPath(id)).map { Int64($0.st_size) }
    }

    /// Settles a file whose entry is in the database. If that fails, lookups read the file where it is, and the next
    /// transaction settles it.
    @inline(never)
    func settle(_ id: Int64) {
        if rename(movingPath(id), settledPath(id)) == 0 || ![ENOENT, ENOTDIR, EACCES].contains(errno) { return }
        _ = try? prepare()
        rename(movingPath(id), settledPath(id))
    }

    /// Makes the directories if they do not exist; returns whether both existed.
    func prepare() throws(SQLiteFailure) -> Bool {
        let existed = (try FileSystem.provideDirectory(settled), try FileSystem.provideDirectory(moving))
        return existed == (true, true)
    }

    /// Deletes the file of an entry that has been removed, from both directories: another process that has just stored the
    /// entry may settle the file at this moment.
    @inline(never)
    func discard(_ id: Int64) {
        FileSystem.remove(movingPath(id))
        FileSystem.remove(settledPath(id))
    }

    /// Settles or deletes the files that a killed process has left in `moving`; returns whether there were any.
    @inline(never)
    func settleAll(whoseEntryExists exists: (Int64) throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) -> Bool {
        let names = try FileSystem.names(in: moving) ?? []
        for name in names {
            guard let id = Int64(name), String(id) == name else {
                FileSystem.remove(moving + "/" + name)
                continue
            }
            if try exists(id) { settle(id) } else { discard(id) }
        }
        return !names.isEmpty
    }

    /// Deletes the settled files without an entry.
    func sweep(whoseEntryExists exists: (Int64) throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) {
        for name in try FileSystem.names(in: settled) ?? [] {
            if let id = Int64(name), String(id) == name, try exists(id) { continue }
            FileSystem.remove(settled + "/" + name)
        }
    }

    /// The length of a file; nil if there is no file.
    func length(of id: Int64) -> Int64? {
        (FileSystem.status(settledPath(id)) ?? FileSystem.status(movingPath(id))).map { Int64($0.st_size) }
    }
}
