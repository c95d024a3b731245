import Foundation

/// The directory of a cache and what is in it. Only its owner can read it.
struct CacheDirectory: Sendable {
    /// Why a directory is not used.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    let path: String

    init(_ url: URL) {
        path = url.standardizedFileURL.path
    }

    /// Makes the directory if it is not there, and checks that it is safe to use.
    func prepare() throws(Refusal) {
        if !exists { try Self.make(path) }
        try check()
    }

    /// Makes a directory that only its owner can use from the first moment on, and those above it.
    private static func make(_ path: String) throws(Refusal) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard errno == ENOENT, parent != path else {
            throw Refusal(description: "it can't be made: \(String(cString: strerror(errno)))")
        }
        try make(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw Refusal(description: "it can't be made: \(String(cString: strerror(errno)))")
        }
    }

    private var exists: Bool { FileSystem.status(path) != nil }

    /// Refuses a directory that others could change. One of ours that others may only read is closed to them.
    func check() throws(Refusal) {
        // All that follows is about the one directory that is open, whatever the path leads to meanwhile.
        let opened = open(
            path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC | (try isOwnLink(path) ? 0 : O_NOFOLLOW))
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
