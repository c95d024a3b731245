import Foundation

/// The operations on files that the cache needs. None follows a link at the end of a path.
enum FileSystem {
    /// The names in a directory; nil if there is no such directory.
    ///
    /// - Throws: if the directory can't be read, which does not mean that it is empty.
    static func names(in path: String) throws(SQLiteFailure) -> [String]? {
        guard let directory = opendir(path) else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .system("\(path) can't be listed")
        }
        defer { closedir(directory) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else { break }
            // By its first element: the compiler takes half a second for a copy of the whole tuple of 256.
            let name = withUnsafePointer(to: &entry.pointee.d_name.0) { String(cString: $0) }
            if name != ".", name != ".." { names.append(name) }
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

    /// Removes a file or directory, if it can be removed.
    static func remove(_ path: String) {
        if unlink(path) != 0, errno != ENOENT { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Makes a directory that only its owner can use; returns false if something has that name.
    static func makeDirectory(_ path: String) throws(SQLiteFailure) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        if errno == EEXIST { return false }
        throw .system("\(path) can't be made")
    }
}

extension stat {
    var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
    var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
}
