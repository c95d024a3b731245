import Foundation

/// Which parsed objects are stored next to the response that they were made from: see ``DerivedResource``.
public struct DerivedObjects: Hashable, Sendable {
    /// Only objects whose parse takes at least this many seconds are stored. By default a millisecond, over ten times what it
    /// takes to load a stored thumbnail of 256 pixels (`Documentation/Benchmarks.md`).
    public var minimumParseTime: TimeInterval = 0.001

    /// The largest size of a stored object, as a share of the size of its body. By default 1.25: then all
    /// thumbnails of the demo's photographs are stored, in a fifth of the photographs' bytes (`Documentation/Benchmarks.md`).
    public var maximumShare = 1.25

    /// The largest size of a stored object, in bytes, encoded and in memory. By default 1 MB: an image of 512 × 512 pixels.
    public var maximumSize = 1 << 20

    /// Creates the default.
    public init() {}

    func accepts(_ data: Data, from bodySize: Int) -> Bool {
        data.count <= maximumSize && Double(data.count) <= maximumShare * Double(bodySize)
    }
}
