/// The progress of a load: the body of its request, and that of the response.
public struct LoadProgress: Hashable, Sendable {
    /// Bytes of the request's body sent so far; a redirect or a retry may send them again.
    public var sent: Int
    /// Bytes of the request's body; nil if it has none, or if the length is not known.
    public var expectedToSend: Int?
    /// Bytes received so far. When a stored response has answered, the size of its body.
    public var received: Int
    /// Bytes of the whole body; nil if the server did not state it.
    public var expected: Int?

    /// Creates a progress, for tests.
    public init(sent: Int = 0, expectedToSend: Int? = nil, received: Int, expected: Int? = nil) {
        (self.sent, self.expectedToSend) = (sent, expectedToSend)
        (self.received, self.expected) = (received, expected)
    }

    /// A response begins.
    mutating func begin(received: Int, expected: Int?) {
        (self.received, self.expected) = (received, expected)
    }

    /// The last progress of a load that a stored response has answered: its body counts as received. Nil for other loads.
    func ended(with trace: LoadTrace) -> LoadProgress? {
        guard [.cache, .revalidated, .stale].contains(trace.source), trace.bytesSaved > 0 else { return nil }
        var progress = self
        progress.begin(received: trace.bytesSaved, expected: trace.bytesSaved)
        return progress
    }

    /// The fraction received, from 0 to 1; nil if the length is not known.
    public var fraction: Double? {
        expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }
}
