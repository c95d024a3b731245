import Foundation
import SynchronizerSupport

/// The file of a stored body, whose bytes have been verified.
enum BodyFileResult {
    case complete(BodyFile)
    case missing
    case corrupt
    case unreadable
}

extension ReadConnection {
    /// The file of the body with that identifier; nil if there is no such entry, or its body is in the database.
    func bodyFile(of id: Int64, urlKey: UInt64) throws(SQLiteFailure) -> BodyFileResult? {
        let decoded = try inOneState { () throws(SQLiteFailure) -> DecodedRow? in
            let entry = try statement(.entry)
            defer { entry.reset() }
            entry.bind(id, at: 0)
            return try entry.step() ? DecodedRow(entry) : nil
        }
        guard let decoded else { return nil }
        guard case .row(let row, let body) = decoded else {
            if locks { return .corrupt }
            throw .changedMeanwhile  // a connection with locks finds out
        }
        return row.urlKey == urlKey && body.isInFile ? generation.bodies.open(id, expecting: body) : nil
    }
}

extension BodyFiles {
    /// Opens the body of an entry, and verifies each byte of it.
    fileprivate func open(_ id: Int64, expecting body: StoredBody) -> BodyFileResult {
        // Between two attempts another process may settle the file, or move it away.
        for path in [settledPath(id), movingPath(id), settledPath(id)] {
            let file = Foundation.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else {
                if errno == ENOENT || errno == ENOTDIR { continue }
                return errno == ELOOP || errno == ENXIO ? .corrupt : .unreadable
            }
            let opened = BodyFile(descriptor: file, at: paths(id), count: body.length, checksum: body.checksum)
            var status = stat()
            guard fstat(file, &status) == 0 else { return .unreadable }
            guard status.isRegularFile, Int(status.st_size) == body.length else { return .corrupt }
            guard let checksum = Descriptor.checksum(of: 0..<body.length, in: file) else { return .unreadable }
            return checksum.value == body.checksum ? .complete(opened) : .corrupt
        }
        return .missing
    }
}
