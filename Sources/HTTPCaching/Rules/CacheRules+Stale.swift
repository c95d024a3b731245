/// Why a request got no usable response.
package enum ServerFailure: Hashable, Sendable {
    /// No connection, a reset or a timeout: the cache is disconnected (RFC 9111 §4).
    case unreachable
    /// A response with this status.
    case status(Int)
}

extension CacheRules {
    /// The selection to answer with after the request to the server has failed (RFC 9111 §4.2.4, §4.3.3, RFC 5861 §4); nil if
    /// the stored response must not be used.
    package func fallback(
        to selection: Selection, of response: StoredResponse, for request: CacheRequest, after failure: ServerFailure,
        at now: Date
    ) -> Selection? {
        let facts = response.facts
        let directives = RequestFacts(request)
        guard request.policy == .useProtocol, !directives.asksForValidation,
            !facts.contains(.mustNotBeStale),
            directives.control.maxAge != 0
        else { return nil }
        let freshness = self.freshness(of: response, at: now)
        guard freshness.age < .infinity else { return nil }
        let window = directives.control.staleIfError ?? facts.staleIfError
        let permission: Explanation.Permission
        switch failure {
        case .unreachable:
            guard freshness.staleness <= window ?? staleIfUnreachable else { return nil }
            permission = window == nil ? .disconnected : .staleIfError
        case .status(let status):
            guard Self.errorStatuses.contains(status), freshness.staleness <= window ?? staleIfError,
                window ?? staleIfError > 0
            else { return nil }
            permission = .staleIfError
        }
        var served = selection
        served.freshness = freshness
        served.explanation = .staleAllowed(freshness, permission)
        return served
    }

    /// RFC 5861 §4: the statuses to which `stale-if-error` applies.
    private static let errorStatuses: Set<Int> = [500, 502, 503, 504]

    /// Seconds from now for which a stored response may be of use: while it is fresh, and then while it may be served stale
    /// or be validated. The second period is never shorter than `staleIfUnreachable`, whatever the response says, unless the
    /// response must not be stale and has no validator.
    package func usefulPeriod(of response: StoredResponse, at now: Date) -> TimeInterval {
        let facts = response.facts
        let fresh = max(0, -freshness(of: response, at: now).staleness)
        if facts.contains(.mustNotBeStale) {
            return fresh + (facts.contains(.hasValidator) ? staleIfUnreachable : 0)
        }
        return fresh
            + max(
                facts.staleWhileRevalidate ?? staleWhileRevalidate, facts.staleIfError ?? staleIfError,
                staleIfUnreachable)
    }

    /// The selection to show while the server validates it; nil if the response must not be used before that (§4.2.4).
    package static func provisional(_ selection: Selection, of response: StoredResponse) -> Selection? {
        let (isFresh, facts) = (selection.freshness.isFresh, response.facts)
        guard !facts.contains(.mustBeValidated), isFresh || !facts.contains(.mustNotBeStale) else { return nil }
        var shown = selection
        shown.explanation = isFresh ? .fresh(selection.freshness) : .stale(selection.freshness)
        return shown
    }

    /// Whether a response with these fields may be shown before the server validates it (§4.2.4, §5.2.2.2, §5.2.2.4).
    package static func mayBeShownBeforeValidation(_ fields: HTTPFields, isFresh: Bool) -> Bool {
        let facts = ResponseFacts(fields)
        return !facts.mustBeValidated && (isFresh || !facts.mustNotBeStale)
    }

    /// The time until which an object made from the response may be used without another decision about the response;
    /// `.distantPast` if each use needs a decision.
    package func expiration(of response: StoredResponse, at now: Date) -> Date {
        freshnessAndExpiration(of: response, at: now).expiration
    }

    /// The freshness and the expiration, for a caller that needs both.
    package func freshnessAndExpiration(
        of response: StoredResponse, at now: Date
    ) -> (freshness: Freshness, expiration: Date) {
        let freshness = self.freshness(of: response, at: now)
        let needsDecision: StoredFacts.Flags = [
            .mustBeValidated, .isForbidden, .variesOnEverything, .hasNoCacheFields,
        ]
        guard response.facts.flags.isDisjoint(with: needsDecision), freshness.isFresh else {
            return (freshness, .distantPast)
        }
        return (freshness, now.addingTimeInterval(-freshness.staleness))
    }
}
