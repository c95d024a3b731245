import Foundation

/// Which parsed objects are stored next to the response that they were made from: see ``DerivedResource``.
public struct DerivedObjects: Hashable, Sendable {
    /// Only objects whose parse takes at least this many seconds are stored. By default a millisecond: loading a stored thumbnail
    /// of 256 pixels takes about a seventh of that (`Documentation/Benchmarks.md`).
    public var minimumParseTime: TimeInterval = 0.001

    /// The largest size of a stored object, as a share of the size of its body. By default 1.25: with it, the thumbnails of all
    /// photographs in the demo are stored, and take a fifth as many bytes as the photographs (`Documentation/Benchmarks.md`).
    public var maximumShare = 1.25

    /// The largest size of a stored object, in bytes. It limits both the encoded size and the size in memory. By default 1 MB: an
    /// image of 512 × 512 pixels.
    public var maximumSize = 1 << 20

    /// Creates the default.
    public init() {}

    func accepts(_ data: Data, from bodySize: Int) -> Bool {
        data.count <= maximumSize && Double(data.count) <= maximumShare * Double(bodySize)
    }
}
