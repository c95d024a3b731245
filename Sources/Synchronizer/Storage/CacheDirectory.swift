import Foundation

/// The directory of a cache and what is in it. Only its owner can read it.
struct CacheDirectory: Sendable {
    /// Why a directory is not used.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    let path: String

    /// A database that could not be used, kept for whoever wants to know why, until its space is needed.
    var setAside: String { path + "/Set-aside.db" }
    var lock: String { path + "/Lock" }
    var bodies: String { path + "/Bodies" }

    init(_ url: URL) {
        path = url.standardizedFileURL.path
    }

    /// Makes the directory if it is not there, and checks that it is safe to use.
    func prepare() throws(Refusal) {
        if !exists {
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            do {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true, attributes: attributes)
            } catch {
                if !exists { throw Refusal(description: "it can't be made: \(error.localizedDescription)") }
            }
        }
        try check(path)
        if mkdir(bodies, 0o700) != 0, errno != EEXIST {
            throw Refusal(description: "it can't be written: \(String(cString: strerror(errno)))")
        }
        try check(bodies)
    }

    /// Checks that a directory that somebody has made is safe to use.
    func check() throws(Refusal) {
        try check(path)
        try check(bodies)
    }

    private var exists: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Refuses what others could have put there or could change. A directory of ours that others may only read is
    /// closed to them.
    private func check(_ path: String) throws(Refusal) {
        // All that follows is about the one directory that is open, whatever the path leads to meanwhile.
        let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (try isOwnLink(path) ? 0 : O_NOFOLLOW))
        guard opened >= 0 else {
            throw Refusal(description: "\(path) can't be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(opened) }
        var status = stat()
        guard fstat(opened, &status) == 0 else {
            throw Refusal(description: "\(path) can't be looked at: \(String(cString: strerror(errno)))")
        }
        guard status.st_uid == geteuid() else {
            throw Refusal(description: "\(path) belongs to user \(status.st_uid), and this is user \(geteuid())")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw Refusal(
                description: "\(path) can be written by others (mode \(String(status.st_mode & 0o777, radix: 8)))")
        }
        if status.st_mode & 0o077 != 0, fchmod(opened, 0o700) != 0 {
            throw Refusal(description: "\(path) can't be closed to others: \(String(cString: strerror(errno)))")
        }
    }

    /// Whether there is a symbolic link, which is followed if we made it.
    private func isOwnLink(_ path: String) throws(Refusal) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw Refusal(description: "\(path) is not there: \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFLNK else { return false }
        guard status.st_uid == geteuid() else {
            throw Refusal(description: "\(path) is a symbolic link that user \(status.st_uid) made")
        }
        return true
    }
}

/// Which file a path leads to at the moment.
struct FileIdentity: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    /// What it takes on the disk, in bytes.
    let allocated: Int64

    /// nil if there is none.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        allocated = Int64(status.st_blocks) * 512
    }

    func isSameFile(as other: FileIdentity) -> Bool {
        device == other.device && inode == other.inode
    }
}
