import Foundation
import SynchronizerSupport

/// Puts a body at a destination that a caller has chosen. `rename` replaces a file that exists there, so at any moment the path
/// leads to the old file or to the complete new one. If the delivery fails, the old file stays.
package struct FileDelivery: Sendable {
    private let destination: String
    /// Whether the destination is a file URL.
    private let isFile: Bool
    private let place: PartialFiles
    private var folder: String { place.folder }

    package init(to destination: URL) {
        isFile = destination.isFileURL
        // Not `standardizedFileURL`, which drops `..` together with the name before it, even if that is a link to another folder.
        self.destination = isFile ? destination.path : destination.absoluteString
        place = PartialFiles(besides: self.destination)
    }

    /// Why no file can be put at the destination; nil if no reason is known.
    package var objection: FileError? {
        guard isFile else { return FileError(.notFileURL, at: destination) }
        var status = stat()
        guard lstat(destination, &status) == 0 else {
            return errno == ENOENT ? folderObjection : .system(destination)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return FileError(.isDirectory, at: destination)
        case S_IFLNK: return FileError(.isLink, at: destination)
        case S_IFREG: break
        default: return FileError(.isSpecial, at: destination)
        }
        return access(destination, W_OK) == 0 ? folderObjection : .system(destination)
    }

    private var folderObjection: FileError? {
        var status = stat()
        guard stat(folder, &status) == 0 else { return .system(destination) }
        guard status.isDirectory else { return FileError(.noFolder, at: destination, code: ENOTDIR) }
        return access(folder, W_OK | X_OK) == 0 ? nil : .system(destination)
    }

    /// Puts the body at the destination: a clone of its file if the file system can make one, otherwise a hard link, otherwise a
    /// copy.
    ///
    /// A hard link shares its bytes only with the file of the cache, which verifies them. So two files of callers never share
    /// bytes that can be changed.
    ///
    /// - Parameter check: called between the pieces of a copy, and before the file gets its name. An error that it throws ends
    ///   the delivery.
    package func put(_ body: BodyFile, check: () throws -> Void) throws {
        try replace(check: check) { temporary in
            if body.isWholeFile, cloneOrLink(body, to: temporary) {
                if !body.isReleased { return }
                unlink(temporary)  // another load may be writing the file
            }
            try write(to: temporary, count: body.count) { try copy(body, to: $0, check: check) }
        }
        body.drop()
    }

    private func cloneOrLink(_ body: BodyFile, to path: String) -> Bool {
        FileSystem.clone(body.descriptor, to: path)
            || FileSystem.link(body.descriptor, to: path, besides: body.nameCount)
    }

    private func copy(_ body: BodyFile, to file: Int32, check: () throws -> Void) throws {
        var position = 0
        try body.forEachPiece { piece in
            try check()
            guard Descriptor.write(piece, to: file, at: position) else { throw FileError.system(destination) }
            position += piece.count
        }
    }

    /// Puts bytes at the destination.
    package func put(_ data: Data, check: () throws -> Void) throws {
        try replace(check: check) { temporary in
            try write(to: temporary, count: data.count) { file in
                guard data.withUnsafeBytes({ Descriptor.write($0, to: file, at: 0) }) else {
                    throw FileError.system(destination)
                }
            }
        }
    }

    private func replace(check: () throws -> Void, _ make: (String) throws -> Void) throws {
        if let objection { throw objection }
        for isLastTry in [false, false, true] {
            let temporary = place.path(place.newName())
            do {
                try make(temporary)
                try check()
                if rename(temporary, destination) == 0 { return }
                // A sweep by another load to this destination may have removed the temporary file.
                if errno != ENOENT || isLastTry { throw FileError.system(destination) }
            } catch {
                unlink(temporary)
                throw error
            }
        }
    }

    private func write(to temporary: String, count: Int, _ fill: (Int32) throws -> Void) throws {
        let isMade = try FileSystem.make(temporary) { file in
            _ = FileLock.takeToWrite(file)  // if the file has its name already, no sweep may remove it
            if let free = Descriptor.freeBytes(file), free < count { throw FileError(.noSpace, at: destination) }
            try fill(file)
            return true
        }
        if !isMade { throw FileError.system(destination) }
    }
}
