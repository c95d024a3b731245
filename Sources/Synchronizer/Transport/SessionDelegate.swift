import Foundation
import HTTPCaching

/// The delegate of a ``Synchronizer``'s session: it decides what is stored of each response, and puts a `Cache-Control`
/// field into those that carry no lifetime of their own.
///
/// On Apple's systems `URLSession` asks it in `willCacheResponse` before it stores a response in its `URLCache`; in
/// managed mode, and on Linux always, the synchronizer asks the same method. Subclass it to decide otherwise: give
/// another response or `nil` to the completion handler. A delegate serves one session.
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
    public let cacheTime: TimeInterval?
    /// Whether ``cacheTime`` replaces a lifetime that the server gave, too. `no-store`, `no-cache` and `private` stand
    /// all the same.
    public let overridesServerLifetime: Bool

    /// The transfers by their tasks, which they keep alive. (Task identifiers are unique within one session only.)
    let transfers = Locked<[ObjectIdentifier: URLSessionTransfer]>([:])
    /// Where it is dealt with what has ended. Storing it and sending the next request may wait for the disk, and for the
    /// session, which meanwhile reads the bodies of others; those are for the delegate's queue to take in.
    private let completions = DispatchQueue(label: "Synchronizer.completions", qos: .userInitiated)
    /// Whether the session stores by itself: set once, by the transport.
    let sessionStores = Locked(false)

    /// A delegate that injects `Cache-Control: max-age=<cacheTime>` where a response carries no lifetime.
    public init(cacheTime: TimeInterval? = nil, overridesServerLifetime: Bool = false) {
        self.cacheTime = cacheTime
        self.overridesServerLifetime = overridesServerLifetime
    }

    /// Decides what is stored of a response: as it is, with an injected `Cache-Control`, or not at all.
    ///
    /// Called on a background thread; the completion handler is to be called once, on any thread. A subclass hands what it
    /// wants stored to `super`: where `URLSession` stores by itself (``Synchronizer/Configuration/Caching/native``), it is
    /// written down there for whose requests the response is. What is stored without that answers no request with
    /// credentials, but any other, and callers see the field that was put in.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let decided = injected(into: proposedResponse)
        guard sessionStores.withLock({ $0 }) else { return completionHandler(decided) }
        completionHandler(transfer(of: dataTask)?.stored(decided))
    }

    /// The `Cache-Control` value that is put into a response; nil if it is left as it is.
    func injection(into status: Int, _ fields: HTTPFields) -> String? {
        injectedCacheControl(
            status: status, fields: fields, cacheTime: cacheTime, overriding: overridesServerLifetime)
    }

    func injected(into proposed: CachedURLResponse) -> CachedURLResponse {
        guard cacheTime != nil, let response = proposed.response as? HTTPURLResponse, let url = response.url,
            let value = injection(into: response.statusCode, HTTPFields(of: response))
        else { return proposed }
        var fields = response.allHeaderFields as? [String: String] ?? [:]
        fields = fields.filter { !HTTPFields.same($0.key, "Cache-Control") }
        fields["Cache-Control"] = value
        guard
            let changed = HTTPURLResponse(
                url: url, statusCode: response.statusCode, httpVersion: "HTTP/1.1", headerFields: fields)
        else { return proposed }
        var userInfo = proposed.userInfo ?? [:]
        userInfo[InjectionMark.userInfoKey] = value
        return CachedURLResponse(
            response: changed, data: proposed.data, userInfo: userInfo, storagePolicy: proposed.storagePolicy)
    }

    // MARK: - What the session reports of its tasks

    /// Hands the response to the load of the task. A subclass that overrides it calls it, as for the others below.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.report(.response(response))
        completionHandler(.allow)
    }

    /// Hands a part of the body to the load of the task.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.report(.data(data))
    }

    /// Tells whether the session's own cache has answered. On Linux it is not called.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        guard metrics.transactionMetrics.last?.resourceFetchType == .localCache else { return }
        transfer(of: task)?.report(.servedFromSessionCache)
    }

    /// Ends the load of the task: whole if there is no error, and only then.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        transfer?.end(error, on: completions)
    }

    /// Follows no redirect by itself in managed mode: the synchronizer looks each target up in the cache first.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(transfer(of: task)?.redirected(by: response))
    }

    private func transfer(of task: URLSessionTask) -> URLSessionTransfer? {
        transfers.withLock { $0[ObjectIdentifier(task)] }
    }
}
