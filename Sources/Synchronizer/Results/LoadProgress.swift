/// The progress of a load: the body of its request, and that of the response.
public struct LoadProgress: Hashable, Sendable {
    /// Bytes of the request's body sent so far; a redirect or a retry may send them again.
    public var sent = 0
    /// Bytes of the request's body; nil if it has none, or if the length is not known.
    public var expectedToSend: Int?
    /// Bytes received so far.
    public var received: Int
    /// Bytes of the whole body; nil if the server did not state it.
    public var expected: Int?

    init(received: Int, expected: Int? = nil) {
        self.received = received
        self.expected = expected
    }

    /// A response begins.
    mutating func begin(received: Int, expected: Int?) {
        (self.received, self.expected) = (received, expected)
    }

    /// The fraction received, from 0 to 1; nil if the length is not known.
    public var fraction: Double? {
        expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }
}
