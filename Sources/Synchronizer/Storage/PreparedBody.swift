import Foundation

/// A body on its way into the database or a file. What takes time is done before the transaction begins.
struct PreparedBody {
    let data: Data
    private let digest: UInt64
    private let temporaryPath: String?

    init(_ body: Data, of id: Int64, in directory: CacheDirectory) throws(SQLiteFailure) {
        data = body
        digest = body.withUnsafeBytes { Digest.of($0) }
        guard body.count > WriteConnection.largestBodyInDatabase else {
            temporaryPath = nil
            return
        }
        let path = "\(directory.bodies)/\(Self.temporaryPrefix)\(getpid())-\(id)"
        guard BodyFile.write(body, to: path) else { throw Self.noFile }
        temporaryPath = path
    }

    /// What SQLite says where it has no room: to be tried again, and then given up.
    private static let noFile = SQLiteFailure(code: 13, message: "the file of a body can't be written")
    private static let temporaryPrefix = "new-"

    static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(temporaryPrefix)
    }

    /// Whether the process that wrote it has had an hour to give it its name.
    static func isAbandoned(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let written = attributes?[.modificationDate] as? Date else { return false }
        return Date().timeIntervalSince(written) > 3600
    }

    /// Gives the file its name, inside of the transaction that inserts the row.
    func settle(in connection: WriteConnection) throws(SQLiteFailure) -> StoredBody {
        guard let temporaryPath else { return StoredBody(length: data.count, digest: digest, file: nil) }
        // The digest is no proof: a file of that name is shared only if it holds the same bytes.
        for number in Int64(0)..<16 {
            let file = BodyFile(digest: digest, length: data.count, number: number)
            let path = file.path(in: connection.directory)
            if access(path, F_OK) != 0 {
                guard rename(temporaryPath, path) == 0 else { break }
                connection.knownFileBytes?.bytes += DiskUsage.blocks(Int64(data.count))
                return StoredBody(length: data.count, digest: digest, file: number)
            }
            if BodyFile.holds(data, at: path) {
                unlink(temporaryPath)
                return StoredBody(length: data.count, digest: digest, file: number)
            }
        }
        throw Self.noFile
    }

    /// Removes what was prepared in vain.
    func discard() {
        if let temporaryPath { unlink(temporaryPath) }
    }
}
