import Foundation
import HTTPCaching

extension Synchronizer {
    /// The configuration of a synchronizer. Every property has a sensible default.
    public struct Configuration: Sendable {
        /// Who does the HTTP caching.
        public enum Caching: Sendable {
            /// `URLSession` does the HTTP caching, as usual on Apple's systems. The synchronizer keeps the responses of different
            /// credentials apart, and makes sure that no load uses an invalidated response. Interrupted transfers are not resumed,
            /// and stale responses are not used after an error. For Apple's systems only: on Linux, where no session stores
            /// responses, this means `managed`.
            case native
            /// The synchronizer does the HTTP caching as RFC 9111 says, the same on every platform.
            case managed
        }

        /// Who does the HTTP caching: `.native` on Apple's systems, `.managed` on Linux.
        public var caching: Caching = .platformDefault

        /// The cache for responses; nil stores none. Several synchronizers may share a cache.
        public var urlCache: URLCache?

        /// Seconds for which a successful response may be used that has neither `Cache-Control` nor `Expires`; nil injects no
        /// lifetime. A fraction of a second is dropped: a `cacheTime` below 1 is a lifetime of 0. ``Resource/cacheTime`` takes
        /// precedence, and so does the `cacheTime` of ``sessionDelegate``, if there is one.
        public var cacheTime: TimeInterval?

        /// The session's delegate, which decides what is stored. Several synchronizers may share it. If it has no `cacheTime` of
        /// its own, it injects ``cacheTime``.
        public var sessionDelegate = SessionDelegate()

        /// The configuration of the session: timeouts, cookies, additional headers. It is an object: copies of this structure share
        /// it until you set another one. A synchronizer copies it when it is created. The synchronizer sets its `urlCache` and its
        /// `httpMaximumConnectionsPerHost` (see ``maximumLoadsPerHost``). Its `requestCachePolicy` applies to requests with
        /// `.useProtocolCachePolicy`, which counts as no policy. Credentials among its additional headers (`Authorization`,
        /// `Cookie`, `X-Api-Key` and others with a word like `auth`, `token` or `key` in their name) are sent to the requested
        /// origin, and dropped by a redirect to another one.
        public var sessionConfiguration: URLSessionConfiguration = .default

        /// Which servers the client trusts over TLS, and the client's own certificate.
        public var tls = TLSConfiguration()

        /// Changes the request of each load before it is coalesced or looked up: adds a token, a signature, or a common header.
        /// Nil changes none.
        ///
        /// Called once for each load, on no actor; also for a load that memory can answer, for prefetches and for `file:` URLs,
        /// but not for redirects and retries. The load sends the request that you return. An error that you throw is the load's
        /// error, unchanged. Cancelling the load cancels the task of the call, and does not wait for it. If
        /// ``Synchronizer/removeAll()`` is called before it returns, as after a log-out, the request is prepared once more,
        /// because it may have old credentials.
        ///
        /// Coalescing and lookups need its result, so no load is answered before it returns, not even from memory, and
        /// ``Synchronizer/cachedObject(for:)`` is always nil. If recycled cells must not flicker, put the header into the
        /// requests of your resources instead.
        ///
        /// Loads that the hook starts itself with this synchronizer run no hooks until it returns, because it could wait for itself.
        /// Those of other synchronizers run their own hooks.
        public var prepare: (@Sendable (_ request: URLRequest) async throws -> URLRequest)?

        /// Returns the request to send in place of one that was answered with 401, or by a proxy with 407. If it returns nil, the
        /// load fails with that response. On Linux, this includes a proxy that refuses a tunnel to an https server, and only the
        /// proxy gets the `Proxy-Authorization` that you set.
        ///
        /// Called once for all loads that wait on the same origin and were refused with the same credentials: each of them is sent
        /// again with the credentials that you set. So are loads that are refused later with the old credentials. Credentials are
        /// the headers with a word like `auth`, `token` or `key` in their name, except `Idempotency-Key` and CSRF tokens, and the
        /// user name and password in the URL. A load is sent again three times at most.
        ///
        /// Called on no actor. An error that you throw is the error of all these loads, unchanged. The call goes on if they are
        /// cancelled. If ``Synchronizer/removeAll()`` is called before it returns, its result is dropped, and it is called once more
        /// for the loads that wait. It is not called for the response of another origin that a redirect led to, nor for a request
        /// with a body stream. Loads that the hook starts itself with this synchronizer, as to refresh a token, run no hooks until it
        /// returns; those of other synchronizers run their own.
        ///
        /// The hook must return: only one call runs for an origin at a time, and all loads that the origin refuses meanwhile wait
        /// for it, up to ``timeoutForLoad``.
        public var authenticate:
            (@Sendable (_ request: URLRequest, _ response: HTTPURLResponse) async throws -> URLRequest?)?

        /// Whether loads request the ``Resource/lowDataURL`` of their resource, if it has one. Set it where the network is slow or
        /// expensive. Loads then request the smaller version even if the full version is stored. Apple's systems know which
        /// networks are constrained. There, in Low Data Mode, the smaller version is loaded even if this is false, unless the
        /// response with the full version is stored. Use this property on Apple's systems only to save data in other cases.
        public var usesLowDataURLs = false

        /// How processes that share the cache send one request for a response that several of them need. Nil: each process sends
        /// its own. Only in managed mode, with a cache that grants leases. Nil by default on Apple's systems: they kill an app that
        /// is suspended while it holds the lock of a file in a shared container.
        public var leases: RequestLeases? = RequestLeases.platformDefault

        /// Seconds after its lifetime for which a response may be used while it is revalidated in the background, unless the
        /// response gives a number of its own (RFC 5861 §3). Managed mode only.
        public var staleWhileRevalidate: TimeInterval = 0

        /// Seconds after its lifetime for which a response may be used when the server answers 500, 502, 503 or 504, unless the
        /// response gives a number of its own (RFC 5861 §4). Managed mode only.
        public var staleIfError: TimeInterval = 0

        /// Seconds after its lifetime for which a response may be used when the server cannot be reached, unless the response
        /// forbids it (RFC 9111 §4.2.4). It takes precedence over a retry (``retry``). It does not apply if TLS fails, if the
        /// request is wrong, or if its cache policy requires the server, as `.reloadRevalidatingCacheData` does;
        /// the guide “Offline” lists the failures. Managed mode only.
        public var staleIfUnreachable: TimeInterval = .infinity

        /// The maximum size of the parsed objects in memory, in bytes; beyond it the least recently used are evicted. The default
        /// is 256 MB, on Apple's systems at most an eighth of the memory that the system grants to the process.
        public var memoryCapacity = Self.defaultMemoryCapacity

        /// The size in bytes to which parsed objects are evicted when ``memoryCapacity`` is exceeded. The default is five eighths
        /// of the default of ``memoryCapacity``.
        public var preferredMemoryUsage = Self.defaultMemoryCapacity / 8 * 5

        /// The maximum number of parsed objects in memory.
        public var memoryCountLimit = Int.max

        /// Seconds after which a parsed object is evicted from memory, even if its response is still fresh.
        public var memoryAgeLimit: TimeInterval = .infinity

        /// Which parsed objects of a ``DerivedResource``, such as `ImageResource`, are stored next to their responses. Nil
        /// stores and uses none. Only in managed mode, with a cache of this package.
        public var derivedObjects: DerivedObjects? = DerivedObjects()

        /// The largest accepted body, in bytes. A load with a larger one fails with ``SynchronizerError/tooLarge(limit:_:)``.
        public var maximumResponseSize = 256 << 20

        /// Seconds that a load may take from its start to its last byte, with waiting and retries; then it fails with
        /// `URLError.timedOut`. The parse is not limited. The session's own timeout is for idle connections. Loads that share a
        /// transfer also share its time, which begins with the first of them.
        public var timeoutForLoad: TimeInterval = .infinity

        /// The maximum number of concurrent loads on the network.
        public var maximumLoads = 12

        /// The maximum number of concurrent loads on the network for one origin.
        public var maximumLoadsPerHost = 6

        /// The maximum number of concurrent parses, each on a thread of its own: of responses, of stored responses for
        /// ``Synchronizer/updates(of:priority:)``, and previews.
        public var maximumParses = max(2, ProcessInfo.processInfo.activeProcessorCount)

        /// The order of loads with the same priority.
        public enum Schedule: Sendable {
            /// Newest first, because that is what is on screen. A load that is requested again becomes the newest.
            case newestFirst
            /// In the order of the first request.
            case oldestFirst
        }

        /// The order of loads with the same priority.
        public var schedule = Schedule.newestFirst

        /// Seconds that a load continues after its last subscriber has cancelled, for cells that come back at once. A load that
        /// is never coalesced, such as a `POST`, ends at once.
        public var cancellationGracePeriod: TimeInterval = 0

        /// Renamed to ``cancellationGracePeriod``.
        @available(*, deprecated, renamed: "cancellationGracePeriod")
        public var grace: TimeInterval {
            get { cancellationGracePeriod }
            set { cancellationGracePeriod = newValue }
        }

        /// When a failed load is retried. A load answered with a stale response has not failed; see ``staleIfUnreachable`` and
        /// ``staleIfError``.
        public var retry = RetryPolicy()

        /// Receives the events of loads; nil costs nothing.
        public var observer: (any SynchronizerObserver)?

        /// The clock. Give a `SQLiteURLCache` the same one. Otherwise, after another process has removed the entries of a URL, the
        /// cache may decide wrongly: if its clock is ahead, it may refuse a response that was requested after the removal; if its
        /// clock is behind, it may store one that was requested before.
        public var time: any TimeSource = SystemTime()

        /// Creates a configuration. Its ``cacheTime`` is the lifetime in seconds of successful responses that have neither
        /// `Cache-Control` nor `Expires`.
        public init(cacheTime: TimeInterval? = nil, urlCache: URLCache? = Configuration.defaultURLCache) {
            self.cacheTime = cacheTime
            self.urlCache = urlCache
        }
    }
}

extension Synchronizer.Configuration {
    /// The lifetime of responses to resources without a ``Resource/cacheTime``; nil leaves it to the delegate.
    var defaultCacheTime: TimeInterval? { sessionDelegate.cacheTime == nil ? cacheTime : nil }

    var limits: Loader.Machine.Limits {
        Loader.Machine.Limits(
            lookups: max(1, maximumParses),
            network: .init(total: max(1, maximumLoads), perHost: max(1, maximumLoadsPerHost)),
            parses: max(1, maximumParses))
    }

    var hooks: RequestHooks? {
        let policy = sessionConfiguration.requestCachePolicy
        let prepare = prepare.map { prepare -> RequestHooks.Prepare in
            { ResourceIdentity(try await prepare($0)).settingDefault(policy).request }
        }
        let authenticate = authenticate.map { authenticate -> RequestHooks.Authenticate in
            { try await authenticate($0, $1).map { ResourceIdentity($0).settingDefault(policy).request } }
        }
        return RequestHooks(prepare: prepare, authenticate: authenticate)
    }

    /// - Parameter makeTransport: makes a replacement for the session, which tests use; then the mode is managed.
    func makeFetcher(
        _ network: NetworkSwitch, over makeTransport: ((URLSessionConfiguration) -> any Transport)? = nil
    ) -> any Fetching {
        let session = sessionConfiguration.copy() as? URLSessionConfiguration ?? sessionConfiguration
        session.httpMaximumConnectionsPerHost = max(1, maximumLoadsPerHost)
        let credentials = session.removeCredentials()
        let fetcher = makeFetcher(session, network: network, over: makeTransport)
        return credentials.isEmpty ? fetcher : CredentialedFetcher(fetcher, credentials: credentials)
    }

    private func makeFetcher(
        _ session: URLSessionConfiguration, network: NetworkSwitch,
        over makeTransport: ((URLSessionConfiguration) -> any Transport)?
    ) -> any Fetching {
        if makeTransport == nil, caching == .native, let fetcher = makeNativeFetcher(session, network: network) {
            return fetcher
        }
        session.urlCache = nil
        session.requestCachePolicy = .reloadIgnoringLocalCacheData
        return ManagedFetcher(
            transport: makeTransport?(session)
                ?? URLSessionTransport(
                    configuration: session, delegate: sessionDelegate, tls: tls, storesResponses: urlCache != nil),
            store: urlCache.map { ($0 as? any ResponseStore) ?? URLCacheStore($0) },
            time: time, rules: rules, network: network, leases: leases)
    }

    private var rules: CacheRules {
        CacheRules(
            staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError,
            staleIfUnreachable: staleIfUnreachable)
    }
}
