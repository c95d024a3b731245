import Foundation

/// What a subscriber wants to be told. All closures are called on background threads.
struct LoadReceiver: Sendable {
    /// The end: called once, unless the subscriber leaves before.
    let finished: @Sendable (Loader.Outcome) -> Void
    /// Bytes as they arrive; nil if nobody looks.
    var progressed: (@Sendable (LoadProgress) -> Void)?
    /// What is stored, while the network is asked; nil if it is not wanted.
    var stored: (@Sendable (LoadedObject) -> Void)?

    /// Something to show while the body arrives; nil if it is not wanted.
    var previewed: (@Sendable (any Sendable, ResponseHead) -> Void)?
    /// Whether nobody waits for it yet.
    let isPrefetch: Bool

    /// Whether it wants to be told while the body arrives.
    var isWatching: Bool { progressed != nil || previewed != nil }

    init(isPrefetch: Bool = false, finished: @escaping @Sendable (Loader.Outcome) -> Void) {
        self.isPrefetch = isPrefetch
        self.finished = finished
    }
}

/// How far the transfer of a body is.
public struct LoadProgress: Hashable, Sendable {
    /// Bytes received so far.
    public var received: Int
    /// Bytes that there will be; nil if the server did not say.
    public var expected: Int?

    /// The part received, 0 to 1; nil if the whole is not known.
    public var fraction: Double? {
        expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }
}
