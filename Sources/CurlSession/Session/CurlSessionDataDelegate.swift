import Foundation
import FoundationNetworking

/// A delegate that receives the head of a response as a ``CurlResponseHead``. Creating an `HTTPURLResponse` instead takes longer
/// than everything else that the session does for a small response.
///
/// For a data task, a ``CurlSession`` calls this method in place of `urlSession(_:dataTask:didReceive:completionHandler:)`
/// with a `URLResponse`.
public protocol CurlSessionDataDelegate: URLSessionDataDelegate {
    /// The head of the response has arrived. Its body follows once `completionHandler` has been called with `.allow`.
    ///
    /// Called on the session's delegate queue. `completionHandler` may be called from any thread; only the first call
    /// counts.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive head: CurlResponseHead,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
}
