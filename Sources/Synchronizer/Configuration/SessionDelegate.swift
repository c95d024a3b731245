import Foundation
import HTTPCaching

/// Decides what a ``Synchronizer`` stores of each response, and which credential answers a server's challenge.
///
/// By default it injects a lifetime of `cacheTime` seconds into successful responses that have neither `Cache-Control`
/// nor `Expires`. A resource may have a `cacheTime` of its own (``Resource/cacheTime``). If neither the resource nor the delegate
/// has one, that of the configuration applies (``Synchronizer/Configuration/cacheTime``). It answers challenges from the
/// configuration's `URLCredentialStorage`.
///
/// On Apple's systems `URLSession` calls `willCacheResponse` before it stores a response in its `URLCache`. In managed mode,
/// and always on Linux, the synchronizer calls the same method. Subclass it to decide otherwise: pass another response or
/// `nil` to the completion handler. Several synchronizers may have the same delegate: each method gets the session that calls it.
///
/// A subclass also sees the session's events, and forwards them by calling `super`. On Linux each load then creates one more
/// `HTTPURLResponse`.
///
/// A subclass must restate `@unchecked Sendable`, as Swift requires, so its own state must be constant or behind a lock:
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
open class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // its state is `let`
    /// The lifetime in seconds to inject into successful responses that have neither `Cache-Control` nor `Expires`; nil
    /// leaves that to ``Synchronizer/Configuration/cacheTime``.
    public var cacheTime: TimeInterval? { injection.cacheTime }
    /// Whether ``cacheTime`` also replaces a lifetime that the server gave, but never `no-store`, `no-cache` or `private`.
    public var overridesServerLifetime: Bool { injection.overridesServerLifetime }

    let injection: LifetimeInjection

    /// Creates a delegate that injects `Cache-Control: max-age=<cacheTime>` into successful responses that have neither
    /// `Cache-Control` nor `Expires`.
    public init(cacheTime: TimeInterval? = nil, overridesServerLifetime: Bool = false) {
        injection = LifetimeInjection(cacheTime: cacheTime, overridesServerLifetime: overridesServerLifetime)
    }

    /// Whether this is a subclass, which may override any method.
    var isSubclass: Bool { type(of: self) != SessionDelegate.self }

    /// Decides what to store of a response: the response itself, with an injected `Cache-Control`, or nothing.
    ///
    /// Called on a background thread; call the completion handler once, on any thread. The response of the
    /// `CachedURLResponse` is created when a subclass first reads it. Its data is empty if the body is in a file
    /// (``FileResource``, ``StreamingResource``); a subclass that decides by size reads `Content-Length` then.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(injection.injected(into: proposedResponse))
    }

    /// Answers a challenge from a server or proxy (`NSURLAuthenticationMethodHTTPBasic`, `…HTTPDigest`). By default the credential
    /// comes from the configuration's `URLCredentialStorage`; a subclass may provide another one. Without a credential, the
    /// response is the 401 or 407, with its body. (On Linux, a proxy's refusal of a tunnel to an https server has no body.)
    ///
    /// Called on a background thread; call the completion handler once, on any thread. It is not called for certificates:
    /// ``Synchronizer/Configuration/tls`` says which ones are trusted.
    ///
    /// A response obtained with a credential never answers a request without it, from the cache or as a coalesced load.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.performDefaultHandling, nil)
    }

    // MARK: - Events, which go to the router

    /// The receiver of the session's events: its own delegate. It is not a property of this object, because several sessions may
    /// share the object.
    private func events(of session: URLSession) -> (any SessionEventRouter)? {
        session.delegate as? any SessionEventRouter
    }

    /// Forwards the response to the load of the task. Overrides of this method and of those below must call `super`, with the
    /// session that they got.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        events(of: session)?.received(response, of: dataTask)
        completionHandler(.allow)
    }

    /// Forwards a part of the body to the load of the task.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        events(of: session)?.received(data, of: dataTask)
    }

    /// Forwards the network timings, and whether the session's own cache answered. Not called on Linux.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        events(of: session)?.collected(metrics, of: task)
    }

    /// Ends the load of the task; without an error its response is complete.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events(of: session)?.ended(task, with: error)
    }

    /// Follows no redirect in managed mode: the synchronizer looks each target up in the cache first.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(events(of: session)?.nextRequest(of: task, after: response))
    }
}

/// Routes the events of a session to the transfers of their tasks.
protocol SessionEventRouter: AnyObject, Sendable {
    func received(_ response: URLResponse, of task: URLSessionTask)
    func received(_ data: Data, of task: URLSessionTask)
    func collected(_ metrics: URLSessionTaskMetrics, of task: URLSessionTask)
    func ended(_ task: URLSessionTask, with error: (any Error)?)

    /// The request with which the session follows a redirect; nil if it must not follow it.
    func nextRequest(of task: URLSessionTask, after response: HTTPURLResponse) -> URLRequest?
}
