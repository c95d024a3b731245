import Foundation
import HTTPCaching

extension Synchronizer {
    /// What a synchronizer is made with. Every property has a sensible value to begin with.
    public struct Configuration: Sendable {
        /// Who drives the `URLCache`.
        public enum Caching: Sendable {
            /// `URLSession` does, as it always did on Apple's systems; here it is seen to that nobody gets another's answer,
            /// and that what was made invalid is not used again. Nothing is resumed, and nothing stale used after an
            /// error. For Apple's systems only: on Linux no session stores anything, and this means the same as `managed`.
            case native
            /// The synchronizer does, after RFC 9111; the same on every platform.
            case managed
        }

        /// Who drives the cache: `.native` on Apple's systems, `.managed` on Linux.
        public var caching: Caching = .platformDefault

        /// Where responses are stored; nil stores none. A cache may be shared by several synchronizers.
        public var urlCache: URLCache?

        /// The session's delegate, which decides what is stored. It must not be used by another synchronizer.
        public var sessionDelegate: SessionDelegate

        /// What the session is made with: time-outs, cookies, additional fields. The synchronizer sets its `urlCache` and its
        /// `httpMaximumConnectionsPerHost` (see ``maximumLoadsPerHost``). Its `requestCachePolicy` is the policy of requests
        /// that set none, which are those with `.useProtocolCachePolicy`.
        /// Credentials among its additional fields (`Authorization`, `Cookie`, `X-Api-Key`, …: whatever has a word like
        /// `auth`, `token` or `key` in its name) are sent to the origin that
        /// is asked, and not to another one that it redirects to.
        public var sessionConfiguration: URLSessionConfiguration = .default

        /// Which servers are trusted over TLS, and as whom the client presents itself.
        public var tls = TLSConfiguration()

        /// Seconds after its lifetime for which a response may be used while it is revalidated in the background, where
        /// it does not say so itself (RFC 5861 §3). Managed mode only.
        public var staleWhileRevalidate: TimeInterval = 0

        /// Seconds after its lifetime for which a response may be used when the server answers 500, 502, 503 or 504,
        /// where it does not say so itself (RFC 5861 §4). Managed mode only.
        public var staleIfError: TimeInterval = 0

        /// Seconds after its lifetime for which a response may be used when the server cannot be reached, where it does
        /// not forbid it (RFC 9111 §4.2.4). It goes before a second try (``retry``). Not when TLS fails, nor for an error in
        /// the request, nor for a request whose cache policy asks the server, such as `.reloadRevalidatingCacheData`:
        /// `Documentation/Loading.md` lists what counts. Managed mode only.
        public var staleIfUnreachable: TimeInterval = .infinity

        /// Bytes of parsed objects that are kept in memory; over it the least recently used are dropped.
        public var memoryCapacity = 256 << 20

        /// Bytes that parsed objects are purged down to when the memory is full.
        public var preferredMemoryUsage = 160 << 20

        /// Parsed objects that are kept in memory at most, whatever their size.
        public var memoryCountLimit = Int.max

        /// Seconds after which a parsed object is dropped from memory, though its response may be fresh for longer.
        public var memoryAgeLimit: TimeInterval = .infinity

        /// The largest body that is accepted, in bytes; a larger one is ``SynchronizerError/tooLarge(limit:_:)``.
        public var maximumResponseSize = 256 << 20

        /// Seconds that a load may take from being asked for to its last byte, waiting and retries included; then it
        /// ends with `URLError.timedOut`. The session's time-out, besides, is for a connection that is idle.
        public var timeoutForLoad: TimeInterval = .infinity

        /// Loads that use the network at the same time.
        public var maximumLoads = 12

        /// Loads that use the network at the same time with one origin.
        public var maximumLoadsPerHost = 6

        /// Parses that run at the same time, each on a thread of its own: of answers, of what
        /// ``Synchronizer/updates(of:priority:)`` shows meanwhile, and previews.
        public var maximumParses = max(2, ProcessInfo.processInfo.activeProcessorCount)

        /// What comes first among loads of the same priority.
        public enum Schedule: Sendable {
            /// What was asked for last, or again, comes first: what the user looks at now.
            case newestFirst
            /// In the order of asking.
            case oldestFirst
        }

        /// What comes first among loads of the same priority.
        public var schedule = Schedule.newestFirst

        /// Seconds that a load goes on after its last subscriber has left, for cells that come straight back.
        public var grace: TimeInterval = 0

        /// When a load that failed is tried again. One that what is stale has answered has not failed; see
        /// ``staleIfUnreachable`` and ``staleIfError``.
        public var retry = RetryPolicy()

        /// Who hears of what loads do; nil costs nothing.
        public var observer: (any SynchronizerObserver)?

        /// What tells the time.
        public var time: any TimeSource = SystemTime()

        /// A configuration whose delegate injects a lifetime of `cacheTime` seconds where a response has none.
        public init(cacheTime: TimeInterval? = nil, urlCache: URLCache? = Configuration.defaultURLCache) {
            sessionDelegate = SessionDelegate(cacheTime: cacheTime)
            self.urlCache = urlCache
        }
    }
}

extension Synchronizer.Configuration {
    var limits: Loader.Machine.Limits {
        Loader.Machine.Limits(
            lookups: max(1, maximumParses),
            network: .init(total: max(1, maximumLoads), perHost: max(1, maximumLoadsPerHost)),
            parses: max(1, maximumParses))
    }

    func makeFetcher() -> any Fetching {
        let session = sessionConfiguration.copy() as? URLSessionConfiguration ?? sessionConfiguration
        session.httpMaximumConnectionsPerHost = max(1, maximumLoadsPerHost)
        let credentials = session.removeCredentials()
        let fetcher = makeFetcher(session)
        return credentials.isEmpty ? fetcher : CredentialedFetcher(fetcher, credentials: credentials)
    }

    private func makeFetcher(_ session: URLSessionConfiguration) -> any Fetching {
        if caching == .native, let fetcher = makeNativeFetcher(session) { return fetcher }
        session.urlCache = nil
        session.requestCachePolicy = .reloadIgnoringLocalCacheData
        return ManagedFetcher(
            transport: URLSessionTransport(
                configuration: session, delegate: sessionDelegate, tls: tls, storesResponses: urlCache != nil),
            store: urlCache.map { ($0 as? any ResponseStore) ?? URLCacheStore($0) },
            time: time, rules: rules)
    }

    private var rules: CacheRules {
        var rules = CacheRules()
        rules.staleWhileRevalidate = max(0, staleWhileRevalidate)
        rules.staleIfError = max(0, staleIfError)
        rules.staleIfUnreachable = max(0, staleIfUnreachable)
        return rules
    }
}
