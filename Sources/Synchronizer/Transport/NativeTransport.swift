import Foundation

/// A session that looks up, stores and follows redirects by itself: `URLSession` on Apple platforms, as native mode sees
/// it.
package protocol NativeTransport: SessionFields {
    /// Sends a request. `receive` is called in the same way as by ``Transport/send(_:receive:)``. `cacheTime` is the lifetime
    /// that the resource sets for its response.
    func perform(
        _ request: URLRequest, cacheTime: TimeInterval?, receive: @escaping @Sendable (NativeEvent) -> Void
    ) -> any Cancellable
}

package enum NativeEvent: Sendable {
    case transfer(TransferEvent)
    /// The session follows this redirect, with this request.
    case redirected(by: ResponseHead, to: URLRequest)
    /// The session is about to store the response. The receiver decides before it returns.
    case storing(StoringDecision)
    /// The session did not use the network. Reported before the end, if the session knows.
    case servedFromSessionCache
}

/// What a session stores of a response: nothing, unless the receiver decides otherwise.
package final class StoringDecision: Sendable {
    /// What the session's delegate wants to be stored.
    package let proposed: CachedURLResponse
    private let response = Locked<CachedURLResponse?>(nil)

    package init(_ proposed: CachedURLResponse) {
        self.proposed = proposed
    }

    package var decided: CachedURLResponse? {
        get { response.withLock { $0 } }
        set { response.withLock { $0 = newValue } }
    }
}
