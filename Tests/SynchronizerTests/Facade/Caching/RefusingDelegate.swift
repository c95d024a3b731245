import Foundation
import Synchronizer

/// Refuses to store any response.
final class RefusingDelegate: SessionDelegate, @unchecked Sendable {  // it has no state
    override func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
    }
}
