import Foundation

/// What a subscriber wants to be told. The closures are called on any thread, and do nothing there that takes time.
struct LoadReceiver: Sendable {
    typealias ID = Loader.Machine.SubscriberID

    /// What is told before the end, and to few.
    struct Watching: Sendable {
        /// Bytes as they arrive; nil if nobody looks.
        var progressed: (@Sendable (LoadProgress) -> Void)?
        /// What is stored, while the network is asked; nil if it is not wanted.
        var stored: (@Sendable (LoadedObject) -> Void)?
        /// Something to show while the body arrives; nil if it is not wanted.
        var previewed: (@Sendable (any Sendable, ResponseHead) -> Void)?
    }

    /// The end: called once, unless the subscriber leaves before. Whoever answers the caller asks `Loader.take` for the
    /// right to do so, at the very moment of answering.
    let finished: @Sendable (ID, Loader.Outcome) -> Void
    private let watching: Boxed<Watching>?
    /// Whether nobody waits for it yet.
    let isPrefetch: Bool

    init(
        isPrefetch: Bool = false, watching: Watching? = nil,
        finished: @escaping @Sendable (ID, Loader.Outcome) -> Void
    ) {
        self.isPrefetch = isPrefetch
        self.watching = watching.map(Boxed.init)
        self.finished = finished
    }

    var progressed: (@Sendable (LoadProgress) -> Void)? { watching?.value.progressed }
    var stored: (@Sendable (LoadedObject) -> Void)? { watching?.value.stored }
    var previewed: (@Sendable (any Sendable, ResponseHead) -> Void)? { watching?.value.previewed }

    /// Whether it wants to be told while the body arrives.
    var isWatching: Bool { progressed != nil || previewed != nil }
}

/// How far a load is: the body of its request, and that of the response.
public struct LoadProgress: Hashable, Sendable {
    /// Bytes of the request's body sent so far; a redirect or a retry may send them again.
    public var sent = 0
    /// Bytes of the request's body; nil if it has none, or if the length is not known.
    public var expectedToSend: Int?
    /// Bytes received so far.
    public var received: Int
    /// Bytes that there will be; nil if the server did not say.
    public var expected: Int?

    init(received: Int, expected: Int? = nil) {
        self.received = received
        self.expected = expected
    }

    /// A response begins.
    mutating func begin(received: Int, expected: Int?) {
        (self.received, self.expected) = (received, expected)
    }

    /// The part received, 0 to 1; nil if the whole is not known.
    public var fraction: Double? {
        expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }
}
