import Foundation

/// The operations on files that the cache needs. By default, none follows a symbolic link at the end of a path.
enum FileSystem {
    /// Commands of `fcntl`.
    typealias LockCommands = (set: Int32, get: Int32)

    /// The queue for deletions that may take seconds. If the process ends first, the remaining files stay.
    static let removals = DispatchQueue(label: "SQLiteURLCache.removals", qos: .utility)

    /// The names in a directory that begin with a prefix; nil if there is no such directory.
    ///
    /// - Throws: if the directory can't be read, which does not mean that it is empty.
    static func names(
        in path: String, prefix: String = "", followsLink: Bool = false
    ) throws(SQLiteFailure) -> [String]? {
        let file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW))
        if file < 0, [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        guard file >= 0, let directory = fdopendir(file) else {
            defer { close(file) }
            throw .system("\(path) can't be listed")
        }
        defer { closedir(directory) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else { break }
            // The address of the first element: the compiler takes half a second for a copy of the whole tuple of 256 elements.
            let name = withUnsafePointer(to: &entry.pointee.d_name.0) { name in
                // A user's folder may have very many other names.
                strncmp(name, prefix, prefix.utf8.count) == 0 ? String(cString: name) : nil
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        if errno != 0 { throw .system("\(path) can't be listed") }
        return names
    }

    /// Returns nil if nothing has that name, or its status can't be read.
    static func status(_ path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// The bytes that a file takes on the disk.
    static func allocatedBytes(_ path: String) -> Int64 {
        Int64(status(path)?.st_blocks ?? 0) * 512
    }

    /// The bytes that a file of that length takes on most file systems.
    static func nominalBytes(length: Int64) -> Int64 { max(0, min(length, 1 << 48) + 4095) / 4096 * 4096 }

    /// The bytes that a file takes on most file systems; 0 if there is no file.
    static func nominalBytes(_ path: String) -> Int64 {
        status(path).map { nominalBytes(length: Int64($0.st_size)) } ?? 0
    }

    /// Whether one of the paths leads to this open file.
    static func isFile(_ file: Int32, atOneOf paths: [String]) -> Bool {
        var status = stat()
        guard fstat(file, &status) == 0 else { return false }
        return paths.contains { self.status($0)?.isSameFile(as: status) == true }
    }

    /// Removes a file, or a directory with its contents, as far as that is possible. First makes an own directory readable: it
    /// could not be removed later, either.
    static func remove(_ path: String) {
        if unlink(path) == 0 || status(path)?.isDirectory != true { return }
        resetMode(path)
        for name in (try? names(in: path)) ?? [] { remove(path + "/" + name) }
        rmdir(path)
    }

    /// Makes a file with the content that `fill` writes. Where the system supports it, the file gets its name after its content,
    /// so that a killed process leaves nothing behind. Returns false, with `errno`, if the file can't be made, or if `fill`
    /// returns false.
    static func make(
        _ path: String, canLink: Bool = linksOpenFiles, _ fill: (Int32) throws -> Bool
    ) throws -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let nameless = canLink ? openNameless(in: folder) : -1
        let file = nameless >= 0 ? nameless : open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard try fill(file) else {
            if nameless < 0 { unlink(path) }
            return false
        }
        return nameless < 0 || link(file, to: path, besides: 0)
    }

    /// Gives a file or directory of this user the mode that the cache gives it, if something like `chmod -R` has changed it. In a
    /// directory that is read-only for this user, everything stays as it is.
    ///
    /// - Returns: whether it has changed the mode.
    @discardableResult
    static func resetMode(_ path: String) -> Bool {
        guard let status = status(path), status.isDirectory || status.isOwnFile, status.st_uid == geteuid() else {
            return false
        }
        let mode: mode_t = status.isDirectory ? 0o700 : 0o600
        if status.st_mode & 0o777 == mode { return false }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return access(folder, W_OK) == 0 && chmod(path, mode) == 0
    }

    /// Makes a directory that only its owner can use, unless there is a directory. Anything else at the path is removed. Returns
    /// whether there was a directory.
    static func provideDirectory(_ path: String) throws(SQLiteFailure) -> Bool {
        resetMode(path)
        if status(path)?.isDirectory == true { return true }
        remove(path)
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return false }
        throw .system("\(path) can't be made")
    }
}

/// An open directory, whose files are opened without resolving its path again.
final class OpenDirectory: Sendable {
    let descriptor: Int32

    init(_ path: String) throws(SQLiteFailure) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if descriptor < 0 { throw .system("\(path) can't be opened") }
    }

    deinit {
        close(descriptor)
    }

    /// Returns nil, with `errno`, if nothing has that name, or its status can't be read.
    func status(_ name: StaticString) -> stat? {
        var status = stat()
        let name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }
}

extension FileSystem {
    /// The bytes of a regular file; nil if it can't be read or is larger than the limit.
    static func contents(of path: String, limit: Int) -> Data? {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.isRegularFile, status.st_size <= limit,
            let length = Int(exactly: status.st_size)
        else { return nil }
        var data = Data(capacity: length)
        let isWhole = Descriptor.read(0..<length, of: file) { data.append(contentsOf: $0) }
        return isWhole ? data : nil
    }
}

/// A file system, and the space on it.
package struct Volume: Sendable {
    package var id: UInt64
    /// The bytes that it has left for this user.
    package var freeBytes: Int

    package init(id: UInt64, freeBytes: Int) {
        (self.id, self.freeBytes) = (id, freeBytes)
    }

    /// The volume that a path is on; nil if the system doesn't say.
    package init?(of path: String) {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, let free = Descriptor.freeBytes(file) else { return nil }
        self.init(id: UInt64(truncatingIfNeeded: status.st_dev), freeBytes: free)
    }
}

extension stat {
    var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
    var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }

    /// Whether it is a regular file of this user with one name.
    var isOwnFile: Bool { isRegularFile && st_uid == geteuid() && st_nlink == 1 }

    func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}
