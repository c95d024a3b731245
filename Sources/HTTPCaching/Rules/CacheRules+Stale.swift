/// Why a request got no useful answer.
package enum ServerFailure: Hashable, Sendable {
    /// No connection, a reset, a time-out: the cache is disconnected (RFC 9111 §4).
    case unreachable
    /// An answer of this status.
    case status(Int)
}

extension CacheRules {
    /// The selection made ready to serve in place of the answer that did not come (RFC 9111 §4.2.4, §4.3.3, RFC 5861
    /// §4); nil if it must not.
    package func selection(
        _ selection: Selection, of response: StoredResponse, for request: CacheRequest, after failure: ServerFailure,
        at now: Date
    ) -> Selection? {
        let facts = ResponseFacts(response.fields)
        let directives = RequestFacts(request)
        guard request.policy == .useProtocol, !directives.asksForValidation, !facts.mustNotBeStale,
            directives.control.maxAge != 0
        else { return nil }
        let freshness = Freshness(of: response, facts, rules: self, at: now)
        guard freshness.age < .infinity else { return nil }
        let window = directives.control.staleIfError ?? facts.control.staleIfError
        let permission: Explanation.Permission
        switch failure {
        case .unreachable:
            guard freshness.staleness <= window ?? staleIfUnreachable else { return nil }
            permission = window == nil ? .disconnected : .staleIfError
        case .status(let status):
            guard [500, 502, 503, 504].contains(status), freshness.staleness <= window ?? staleIfError,
                window ?? staleIfError > 0
            else { return nil }
            permission = .staleIfError
        }
        var served = selection
        served.explanation = .staleAllowed(freshness, permission)
        return served
    }

    /// The selection made ready to show while the server is asked; nil if the response must not be used before the
    /// server has confirmed it (§4.2.4).
    package func selectionMeanwhile(_ selection: Selection, of response: StoredResponse) -> Selection? {
        let isFresh = selection.freshness.isFresh
        guard mayBeShownMeanwhile(response.fields, isFresh: isFresh) else { return nil }
        var shown = selection
        shown.explanation = isFresh ? .fresh(selection.freshness) : .stale(selection.freshness)
        return shown
    }

    /// Whether a response with these fields may be shown before the server has confirmed it (§4.2.4, §5.2.2.2, §5.2.2.4).
    package func mayBeShownMeanwhile(_ fields: HTTPFields, isFresh: Bool) -> Bool {
        let facts = ResponseFacts(fields)
        return !facts.mustBeValidated && (isFresh || !facts.mustNotBeStale)
    }

    /// Until when an object made of the response may be used without looking at the response again: its expiration
    /// time, or `.distantPast` if each use is to be judged.
    package func expiration(of response: StoredResponse, at now: Date) -> Date {
        let facts = ResponseFacts(response.fields)
        guard !facts.mustBeValidated, !facts.forbidsStoring(status: response.status), !facts.variesOnEverything,
            facts.control.noCacheFields.isEmpty
        else { return .distantPast }
        let freshness = Freshness(of: response, facts, rules: self, at: now)
        return freshness.isFresh ? now.addingTimeInterval(-freshness.staleness) : .distantPast
    }
}
