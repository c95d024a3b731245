import Foundation

/// Why a file could not be written.
public struct FileError: Error, Sendable, Hashable {
    /// The kind of a failure.
    public enum Reason: Sendable, Hashable {
        /// The disk is full, a quota is exhausted, or the file is larger than the file system or a limit allows.
        case noSpace
        /// You may not write there, or the file system is read-only.
        case notPermitted
        /// The path is that of a directory.
        case isDirectory
        /// The path is that of a symbolic link, which is neither followed nor replaced.
        case isLink
        /// The path is that of another file that is not a regular file, such as a pipe.
        case isSpecial
        /// The folder does not exist.
        case noFolder
        /// The destination is the URL of something other than a file.
        case notFileURL
        /// Another error of the system: see ``FileError/code``.
        case other
    }

    /// The kind of this failure.
    public let reason: Reason
    /// The path of the file; the whole URL if it is not a file URL.
    public let path: String
    /// The error of the system (`errno`); 0 if no system call failed.
    public let code: Int32

    package init(_ reason: Reason, at path: String, code: Int32 = 0) {
        self.reason = reason
        self.path = path
        self.code = code
    }

    /// The last error of the system (`errno`).
    package static func system(_ path: String) -> FileError {
        let code = errno
        let reason: Reason =
            switch code {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOENT, ENOTDIR: .noFolder
            case EISDIR: .isDirectory
            case ELOOP: .isLink
            default: .other
            }
        return FileError(reason, at: path, code: code)
    }
}

extension FileError: CustomStringConvertible, LocalizedError {
    /// The path and what is wrong with it, in English.
    public var description: String { "\(path) can't be written: \(words)" }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private var words: String {
        switch reason {
        case .noSpace: "there is not enough space"
        case .notPermitted: "permission denied"
        case .isDirectory: "it is a directory"
        case .isLink: "it is a symbolic link"
        case .isSpecial: "it is not a regular file"
        case .noFolder: "its folder does not exist"
        case .notFileURL: "it is not a file URL"
        case .other: String(cString: strerror(code))
        }
    }
}
