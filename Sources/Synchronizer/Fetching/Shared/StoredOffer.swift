import Foundation

/// A stored response that is about to answer, with the objects that were made from its body. If they are all that is needed,
/// the body is not read.
package final class StoredOffer: Sendable {
    /// The body from which the objects were made.
    package let source: DerivedSource
    private let read: @Sendable (String) -> Data?
    private let state = Locked(false)

    package init(_ source: DerivedSource, read: @escaping @Sendable (String) -> Data?) {
        self.source = source
        self.read = read
    }

    /// An encoded object; nil if there is none. Blocks on the disk.
    package func object(_ name: String) -> Data? { read(name) }

    /// Tells the fetch not to read the body. Call it before the event's handler returns.
    package func accept() { state.withLock { $0 = true } }

    var isAccepted: Bool { state.withLock { $0 } }
}
