import Foundation
import HTTPCaching
import SynchronizerSupport

/// A place for incoming bodies and for partial bodies that are kept: a directory of the cache, or the folder of the file that
/// a body is delivered to.
///
/// An incoming body is a file that is locked (`flock`) while it is written. If the rest of it can be requested later, there is a
/// record beside it: the response, and checkpoints. A checkpoint is the length and the checksum of the bytes so far. So the
/// process may be killed at any moment: the next load verifies the bytes up to the last checkpoint, and continues from there.
package struct PartialFiles: Hashable, Sendable {
    package let folder: String
    let prefix: String
    /// Whether the files count towards the capacity of a cache. Then a file has the length of its body from the start.
    let isCounted: Bool

    static let recordSuffix = ".record"

    /// The place in a generation of the cache.
    init(generation path: String) {
        (folder, prefix, isCounted) = (path + "/Partial", "", true)
    }

    /// The place beside a destination. The names are hidden, and contain a checksum of the destination's name.
    package init(besides destination: String) {
        // `NSString` leaves `..` to the system: the name before it may be a link to another folder.
        let path = destination as NSString
        folder = path.deletingLastPathComponent
        prefix = ".download-\(Checksum64.of(path.lastPathComponent).hexadecimal)-"
        isCounted = false
    }

    /// The place for files that are not kept. They have no names, where the system supports that.
    package static let temporary = PartialFiles(
        folder: FileManager.default.temporaryDirectory.path, prefix: ".download-", isCounted: false)

    private init(folder: String, prefix: String, isCounted: Bool) {
        (self.folder, self.prefix, self.isCounted) = (folder, prefix, isCounted)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Whether this is the path of a file in this place. A file without a name has the path of the folder.
    package func contains(path: String) -> Bool { path == folder || path.hasPrefix(self.path(prefix)) }

    func recordPath(_ name: String) -> String { path(name) + Self.recordSuffix }

    /// The beginning of the names for a URL.
    func start(for url: String) -> String { prefix + Checksum64.of(url).hexadecimal + "-" }

    /// Makes a file, and locks it if the file system can. If a sweep has removed the file before it was locked, another one is
    /// made.
    func makeLocked(for url: String) throws(FileError) -> (name: String, file: Int32, isLocked: Bool) {
        for _ in 0..<10 {
            let name = start(for: url) + UInt64(bitPattern: MonotonicID.next()).hexadecimal
            let file = open(path(name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .system(path(name)) }
            var status = stat()
            let answer = FileLock.takeToWrite(file)
            if answer != .busy, fstat(file, &status) == 0, status.st_nlink > 0 {
                return (name, file, answer == .locked)
            }
            unlink(path(name))
            close(file)
        }
        throw FileError(.other, at: folder, code: EAGAIN)
    }

    /// A temporary name for a complete body, before it is renamed to its destination. The file has no record, so a sweep removes
    /// it if a killed process has left it.
    func newName() -> String { prefix + UInt64.random(in: 0 ... .max).hexadecimal }

    /// Removes the partial bodies of a URL. A load that is receiving one continues, but its file is not kept.
    package func remove(for url: String) {
        let start = start(for: url)
        for name in allNames where name.hasPrefix(start) { unlink(path(name)) }
    }

    func remove(_ name: String) {
        unlink(recordPath(name))
        unlink(path(name))
    }
}

// MARK: - Counting and evicting, in a directory of the cache

extension PartialFiles {
    /// All names of the place in the folder. If the folder belongs to the cache, it must not be a symbolic link.
    var allNames: [String] {
        (try? FileSystem.names(in: folder, prefix: prefix, followsLink: !isCounted)) ?? []
    }

    /// The names of the bodies, without their records.
    private var names: [String] {
        allNames.filter { !$0.hasSuffix(Self.recordSuffix) }
    }

    /// The bytes that all bodies and their records take, or will take once the bodies are complete.
    var bytes: Int64 { names.reduce(0) { $0 + bytes(of: $1) } }

    /// The same for the bodies that a process is receiving.
    var arrivingBytes: Int64 { names.filter(isArriving).reduce(0) { $0 + bytes(of: $1) } }

    private func bytes(of name: String) -> Int64 {
        FileSystem.nominalBytes(path(name)) + FileSystem.nominalBytes(recordPath(name))
    }

    /// Whether a process is writing the file. True if the system can't tell.
    func isArriving(_ name: String) -> Bool { !whileIdle(name) {} }

    /// Calls `body` and returns true if no process is writing the file, or if the file does not exist. Returns false if the lock
    /// can't be taken. No process begins to write the file before `body` returns.
    @discardableResult
    func whileIdle(_ name: String, _ body: () -> Void) -> Bool {
        let file = open(path(name), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        if file < 0 {
            guard cannotBeWritten(name, because: errno) else { return false }
            body()
            return true
        }
        defer { close(file) }
        guard FileLock.takeToLook(file) == .locked else { return false }
        body()
        FileLock.release(file)  // a child process forked since then has the file open, too
        return true
    }

    /// Whether it is certain that no process is writing a file that could not be opened: the file does not exist, is not a regular
    /// file, or belongs to this user but can't be read.
    private func cannotBeWritten(_ name: String, because error: Int32) -> Bool {
        switch error {
        case ENOENT, ENOTDIR, ELOOP, ENXIO: true
        case EACCES: FileSystem.status(path(name))?.st_uid == geteuid()
        default: false
        }
    }

    /// Removes bodies that no process is writing, the oldest first, until so many bytes are freed; returns how many were freed.
    func evict(_ bytes: Int64) -> Int64 {
        let oldest = names.map { ($0, FileSystem.status(path($0))?.modified ?? 0) }.sorted { $0.1 < $1.1 }
        var freed: Int64 = 0
        for (name, _) in oldest where freed < bytes {
            whileIdle(name) {
                let bytes = self.bytes(of: name)
                remove(name)
                if FileSystem.status(path(name)) == nil { freed += bytes }
            }
        }
        return freed
    }
}
