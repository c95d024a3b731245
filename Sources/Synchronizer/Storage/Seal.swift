/// The digest of a row of the database, so that damage to any column that matters is seen, and not only to the body.
enum Seal {
    static func of(
        _ record: UnsafeRawBufferPointer, id: Int64, urlKey: UInt64, variant: UInt64, revision: Int64, stored: Int64,
        body: StoredBody
    ) -> UInt64 {
        let columns = (
            id.littleEndian, urlKey.littleEndian, variant.littleEndian, revision.littleEndian, stored.littleEndian,
            Int64(body.length).littleEndian, body.digest.littleEndian
        )
        return Digest.of(record, seed: withUnsafeBytes(of: columns) { Digest.of($0) })
    }
}

/// What the database knows of a body.
struct StoredBody: Hashable, Sendable {
    let length: Int
    let digest: UInt64

    var isInFile: Bool { length > Schema.largestBodyInDatabase }
}
