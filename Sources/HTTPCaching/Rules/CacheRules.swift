/// The entry point for the other modules of this package: every question about caching is a method of `CacheRules`. The public
/// entry point is ``HTTPCache``, which asks these rules.
///
/// | question | file |
/// | --- | --- |
/// | What to do about a request, given the stored responses? | `CacheDecisionMaker` |
/// | How old is a response, and how long is it fresh? | `CacheRules+Freshness` |
/// | May a stale response be used? | `CacheRules+Stale` |
/// | May a response be stored, and which of its fields? | `CacheRules+Storing` |
/// | Which request fields select a response? | `CacheRules+Vary`, `CacheRules+Credentials`, `CacheRules+Cookies` |
/// | What does a 304, or the response to a `HEAD`, update? | `CacheRules+Freshening` |
/// | What does an unsafe request invalidate? | `CacheRules+Invalidation` |
/// | Where does a redirect lead? | `RedirectRules` |
/// | Which lifetime is injected? | `CacheRules+InjectedLifetime` |
/// | May requests that are made at the same time wait for one response? | `CacheRules+Leases` |
/// | What is the key of a URL, and do two URLs have the same origin? | `CacheRules+URLs` |
///
/// All of them are pure: they take values and the current time, and return values. Instance methods depend on the settings
/// below; static methods follow from the RFCs alone.
package struct CacheRules: Hashable, Sendable {
    /// How the lifetime of a response without an explicit one is estimated.
    package var heuristic = HeuristicLifetime()
    /// Seconds after its lifetime for which a response may be used while it is validated in the background, unless the
    /// response gives a number of its own (RFC 5861 §3).
    package var staleWhileRevalidate: Double = 0
    /// Seconds after its lifetime for which a response may be used when the server answers 500, 502, 503 or 504, unless the
    /// response or the request gives a number of its own (RFC 5861 §4).
    package var staleIfError: Double = 0
    /// Seconds after its lifetime for which a response may be used when the server cannot be reached, unless the response
    /// or the request gives a number of its own (RFC 9111 §4.2.4: a disconnected cache).
    package var staleIfUnreachable: Double = .infinity

    package init() {}

    /// Creates rules with these periods. A negative period counts as 0.
    package init(staleWhileRevalidate: Double, staleIfError: Double, staleIfUnreachable: Double) {
        self.staleWhileRevalidate = max(0, staleWhileRevalidate)
        self.staleIfError = max(0, staleIfError)
        self.staleIfUnreachable = max(0, staleIfUnreachable)
    }
}
