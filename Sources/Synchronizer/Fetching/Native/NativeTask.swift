import Foundation
import HTTPCaching

/// A task of the session, for a native fetch.
struct NativeTask {
    let number: Int
    let request: URLRequest
    let sent: Date
    /// When the request in flight was sent, in the order of invalidations.
    var mark: InvalidationLog.Mark
    /// The request in flight: the session follows redirects by itself.
    private(set) var current: URLRequest
    /// The same request for the cache rules, with the cookies that were sent: the response may set others. Nil without a URL.
    private(set) var cacheRequest: CacheRequest?
    private(set) var redirects: [URL] = []
    private(set) var redirectLifetime = RedirectLifetime()
    /// Whether the session did not use the network: the session has reported so, or was not allowed to use it.
    var isFromCache: Bool
    /// The binding header of a stored response; nil if the response comes from the server.
    var header: CacheBindingHeader?
    var received: ReceivedResponse
    /// If the body goes to a file: its writer, and, once the task has ended, the file.
    var sink: BodySink?
    var file: BodyFile?
    /// The network timings; nil if the session does not report them.
    var network: NetworkTrace?
    /// Whether the session sent a credential that the request does not show.
    var isAuthorized = false
    /// What the session does with the response; nil if it has not asked.
    var storing: ResponseStoring?
    /// Known once `perform` has returned; a task can end before.
    var transfer: (any Cancellable)?

    init(
        number: Int, request: URLRequest, cacheRequest: CacheRequest?, sent: Date, mark: InvalidationLog.Mark,
        limit: Int, wantsFile: Bool = false
    ) {
        self.number = number
        self.request = request
        self.sent = sent
        self.mark = mark
        current = request
        self.cacheRequest = cacheRequest
        received = ReceivedResponse(
            method: request.httpMethod ?? "GET", maximumBodySize: limit, wantsFile: wantsFile)
        isFromCache = request.cachePolicy == .returnCacheDataDontLoad
    }

    var isCacheOnly: Bool { request.cachePolicy == .returnCacheDataDontLoad }

    var isHTTP: Bool { request.url?.scheme?.lowercased().hasPrefix("http") ?? false }

    mutating func follow(
        _ next: URLRequest, cacheRequest: CacheRequest?, mark: InvalidationLog.Mark, redirectLifetime: RedirectLifetime
    ) {
        current = next
        self.redirectLifetime = redirectLifetime
        self.cacheRequest = cacheRequest
        self.mark = mark
        if let url = next.url { redirects.append(url) }
    }

    /// Why the session did not ask what to store.
    private var reasonNotToAsk: ResponseStoring.Reason {
        guard let request = cacheRequest else { return .session }
        let objection = CacheRules.objection(
            toStoring: received.status, fields: received.fields, answering: request)
        return objection.map { .init($0) } ?? .session
    }

    var source: (LoadSource, String) {
        if isFromCache { return (.cache, "URLSession answered from its cache") }
        if header != nil { return (.revalidated, "URLSession answered from its cache; the server confirmed it") }
        return (.network, "URLSession answered")
    }

    func trace(at now: Date) -> LoadTrace {
        var trace = LoadTrace()
        trace.redirects = redirects
        if isFromCache || header != nil {
            trace.bytesSaved = received.count
        } else {
            trace.bytesReceived = received.count
        }
        trace.network = network
        if !isFromCache, received.head?.isHTTP == true { trace.storing = storing ?? .notStored(reasonNotToAsk) }
        guard received.head != nil else { return trace }
        (trace.source, trace.reason) = source
        if !isFromCache { trace.status = received.status }
        trace.timeToFirstByte = received.time.timeIntervalSince(sent)
        trace.transfer = now.timeIntervalSince(received.time)
        return trace
    }
}
