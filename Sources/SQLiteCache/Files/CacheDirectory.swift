import Foundation

/// The directory of a cache, which only its owner can read.
struct CacheDirectory: Sendable {
    let path: String
    /// The file of the leases.
    var leases: String { path + "/Leases" }

    init(_ url: URL) {
        path = url.standardizedFileURL.path
    }

    /// Makes the directory if it does not exist, and checks that it is safe to use.
    func prepare() throws(SQLiteFailure) {
        if FileSystem.status(path) == nil { try Self.make(path) }
        try check()
    }

    /// Makes a directory, and its missing parents. From the first moment on, only their owner can use them.
    private static func make(_ path: String) throws(SQLiteFailure) {
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path  // may change `errno`
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, parent != path else { throw .system("the directory can't be made") }
        try make(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("the directory can't be made") }
    }

    /// Refuses a directory that another user owns or can change. Takes the permissions of other users away from a directory that
    /// they can only read.
    func check() throws(SQLiteFailure) {
        // All checks use the open directory, so they concern one directory, even if the path leads to another one in between.
        let opened = open(
            path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC | (try isOwnLink(path) ? 0 : O_NOFOLLOW))
        guard opened >= 0 else { throw .system("\(path) can't be opened") }
        defer { close(opened) }
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw .system("\(path) can't be examined") }
        guard status.st_uid == geteuid() else {
            throw .refusal("\(path) belongs to user \(status.st_uid), but this is user \(geteuid())")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw .refusal(
                "\(path) can be written by others (mode \(String(status.st_mode & 0o777, radix: 8)))")
        }
        if status.st_mode & 0o077 != 0, fchmod(opened, 0o700) != 0 {
            throw .system("the permissions of others for \(path) can't be removed")
        }
    }

    /// Whether the path is a symbolic link of this user, which may be followed.
    private func isOwnLink(_ path: String) throws(SQLiteFailure) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .system("\(path) does not exist") }
        guard status.st_mode & S_IFMT == S_IFLNK else { return false }
        guard status.st_uid == geteuid() else {
            throw .refusal("\(path) is a symbolic link of user \(status.st_uid)")
        }
        return true
    }
}

extension CacheDirectory {
    /// The cache directory of a program that names none: `SQLiteURLCache` in a folder with the program's name, in
    /// `$XDG_CACHE_HOME` or `~/.cache` on Linux (XDG Base Directory Specification), in Caches on Apple's systems.
    ///
    /// - Parameter environment: the environment of this process, unless a test passes another one.
    static func defaultURL(in environment: [String: String] = ProcessInfo.processInfo.environment) -> URL {
        userCaches(environment).appendingPathComponent(programName, isDirectory: true)
            .appendingPathComponent("SQLiteURLCache", isDirectory: true)
    }

    private static var programName: String {
        let name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        let safe = name.replacingOccurrences(of: "/", with: "_")
        return safe.isEmpty || safe.hasPrefix(".") ? "_" + safe : safe
    }
}
