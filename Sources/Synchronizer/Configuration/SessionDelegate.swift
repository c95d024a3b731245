import Foundation
import HTTPCaching

/// What a ``Synchronizer``'s session asks: what is stored of each response, and with which credential a challenge of a
/// server is answered. As it is, it gives responses without a lifetime one of `cacheTime` seconds, and answers challenges
/// out of the configuration's `URLCredentialStorage`.
///
/// On Apple's systems `URLSession` asks `willCacheResponse` before it stores a response in its `URLCache`; in managed mode,
/// and on Linux always, the synchronizer asks the same method. Subclass it to decide otherwise: give another response or
/// `nil` to the completion handler. A delegate serves one session.
///
/// A subclass also sees what the session reports, and hands it on by calling `super`. On Linux each load then costs the
/// creation of an `HTTPURLResponse` more.
///
/// A subclass restates `@unchecked Sendable`, as Swift requires of each subclass, so its own state must be constant or
/// behind a lock:
///
/// ```swift
/// final class SmallResponsesOnly: SessionDelegate, @unchecked Sendable {  // its state is constant
///     private let limit = 100_000
///
///     override func urlSession(
///         _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
///         completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
///     ) {
///         guard proposedResponse.data.count <= limit else { return completionHandler(nil) }
///         super.urlSession(
///             session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
///     }
/// }
/// ```
open class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // its state is `let` or Locked
    /// The lifetime, in seconds, for successful responses without `Cache-Control` and `Expires`; nil injects nothing.
    public var cacheTime: TimeInterval? { injection.cacheTime }
    /// Whether ``cacheTime`` replaces a lifetime that the server gave, too. `no-store`, `no-cache` and `private` stand
    /// all the same.
    public var overridesServerLifetime: Bool { injection.overridesServerLifetime }

    let injection: LifetimeInjection
    /// What the session reports to, set by the transport. Weakly: it keeps this delegate for as long as the session is.
    let router = Locked(WeakRouter())

    struct WeakRouter {
        weak var router: TransferRouter?
    }

    /// A delegate that injects `Cache-Control: max-age=<cacheTime>` where a response carries no lifetime.
    public init(cacheTime: TimeInterval? = nil, overridesServerLifetime: Bool = false) {
        injection = LifetimeInjection(cacheTime: cacheTime, overridesServerLifetime: overridesServerLifetime)
    }

    /// Whether this is a subclass, whose methods may do something else.
    var isSubclass: Bool { type(of: self) != SessionDelegate.self }

    /// Decides what is stored of a response: as it is, with an injected `Cache-Control`, or not at all.
    ///
    /// Called on a background thread; call the completion handler once, on any thread. For a subclass, the response of
    /// the `CachedURLResponse` is created when it is first looked at.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(injection.injected(into: proposedResponse))
    }

    /// Answers a challenge of a server or of a proxy (`NSURLAuthenticationMethodHTTPBasic`, `…HTTPDigest`): out of the
    /// configuration's `URLCredentialStorage`, unless a subclass knows a credential. Without one the response is the 401
    /// or 407, with its body.
    ///
    /// Called on a background thread; call the completion handler once, on any thread. Certificates are not asked about
    /// here: ``Synchronizer/Configuration/tls`` says which ones are trusted.
    ///
    /// A response that was obtained with a credential answers no request without it, neither out of the cache nor as a
    /// coalesced load.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.performDefaultHandling, nil)
    }

    // MARK: - What the session reports of its tasks

    private var receiver: TransferRouter? { router.withLock { $0.router } }

    /// Hands the response to the load of the task. A subclass that overrides it calls it, as for the others below.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        receiver?.received(response, of: dataTask)
        completionHandler(.allow)
    }

    /// Hands a part of the body to the load of the task.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        receiver?.transfer(of: dataTask)?.report(.data(data))
    }

    /// Tells how the network did, and whether the session's own cache has answered. On Linux it is not called.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        receiver?.collected(metrics, of: task)
    }

    /// Ends the load of the task: whole if there is no error, and only then.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        receiver?.ended(task, error)
    }

    /// Follows no redirect by itself in managed mode: the synchronizer looks each target up in the cache first.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(receiver?.transfer(of: task)?.native?.redirected(by: response))
    }
}
