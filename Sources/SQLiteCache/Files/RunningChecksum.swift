import SynchronizerSupport

/// The ``Checksum64`` of bytes that arrive in pieces of any size.
struct RunningChecksum: Sendable {
    private var blocks = Checksum64()
    /// The last bytes, which do not yet fill a block.
    private var rest: [UInt8] = []

    init() { rest.reserveCapacity(Checksum64.blockSize) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var bytes = bytes[...]
        if !rest.isEmpty {
            let missing = bytes.prefix(Checksum64.blockSize - rest.count)
            rest.append(contentsOf: missing)
            bytes = bytes.dropFirst(missing.count)
            guard rest.count == Checksum64.blockSize else { return }
            rest.withUnsafeBytes { blocks.combine($0) }
            rest.removeAll(keepingCapacity: true)
        }
        let whole = bytes.count / Checksum64.blockSize * Checksum64.blockSize
        blocks.combine(UnsafeRawBufferPointer(rebasing: bytes.prefix(whole)))
        rest.append(contentsOf: bytes.dropFirst(whole))
    }

    /// The checksum of all bytes so far.
    var value: UInt64 {
        var all = blocks
        rest.withUnsafeBytes { all.combine($0) }
        return all.value
    }
}
