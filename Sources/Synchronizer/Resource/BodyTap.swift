import Foundation

/// Passes the bytes of a body that arrives to those that parse them, from the first one on and in order.
package final class BodyTap: Sendable {
    private let receivers = Locked<[@Sendable (Data) -> Void]>([])
    private let shared = Locked(false)

    /// Whether several loads want the body.
    var isShared: Bool {
        get { shared.withLock { $0 } }
        set { shared.withLock { $0 = newValue } }
    }

    /// Only before the first byte.
    func attach(_ receive: @escaping @Sendable (Data) -> Void) {
        receivers.withLock { $0.append(receive) }
    }

    var isUsed: Bool { receivers.withLock { !$0.isEmpty } }

    func pass(_ data: Data) {
        for receive in receivers.withLock({ $0 }) { receive(data) }
    }
}
