// How the head of a response becomes the facts that are stored with it.
extension StoredFacts {
    /// Computes the facts from the head of a response.
    init(deciding response: StoredResponse) {
        let facts = ResponseFacts(response.fields)
        let modified = facts.date(FieldName.lastModified, at: response.responseTime)
        let date = facts.date(at: response.responseTime)
        generated = date ?? response.responseTime
        flags = Flags(facts, status: response.status, date: date, modified: modified)
        (rule, period) = facts.lifetime(of: response, generated: generated, modified: modified)
        // §4.2.3
        let apparentAge = max(0, response.responseTime.timeIntervalSince(generated))
        let responseDelay = max(0, response.responseTime.timeIntervalSince(response.requestTime))
        initialAge = max(apparentAge, (facts.age ?? 0) + responseDelay)
        staleWhileRevalidate = facts.control.staleWhileRevalidate
        staleIfError = facts.control.staleIfError
    }
}

extension StoredFacts.Flags {
    fileprivate init(_ facts: ResponseFacts, status: Int, date: Date?, modified: Date?) {
        self = []
        if facts.forbidsStoring(status: status) { insert(.isForbidden) }
        if facts.mustBeValidated { insert(.mustBeValidated) }
        if facts.mustNotBeStale { insert(.mustNotBeStale) }
        if facts.control.contains(.immutable) { insert(.isImmutable) }
        if facts.control.contains(.isPrivate) { insert(.isPrivate) }
        if !facts.control.noCacheFields.isEmpty { insert(.hasNoCacheFields) }
        if !facts.vary.isEmpty { insert(.hasVary) }
        if facts.variesOnEverything { insert(.variesOnEverything) }
        if facts.hasContentCoding { insert(.hasContentCoding) }
        if facts.entityTag != nil || facts.lastModified != nil { insert(.hasValidator) }
        if let date, let modified, date.timeIntervalSince(modified) >= 1 { insert(.hasStrongDate) }
    }
}

extension ResponseFacts {
    /// RFC 9111 §4.2.1: the first source that applies. `s-maxage` is for shared caches only.
    fileprivate func lifetime(
        of response: StoredResponse, generated: Date, modified: Date?
    ) -> (LifetimeRule, TimeInterval) {
        if let maxAge = control.maxAge { return (response.injectedCacheControl == nil ? .maxAge : .injected, maxAge) }
        if hasExpires {
            let end = date(FieldName.expires, at: response.responseTime)  // §5.3: invalid means expired
            return (.expires, max(0, end?.timeIntervalSince(generated) ?? 0))
        }
        guard control.contains(.isPublic) || Self.isHeuristicallyCacheable(response.status), let modified else {
            return (.none, 0)
        }
        return (.heuristic, max(0, generated.timeIntervalSince(modified)))
    }

    /// Whether a response with this status may get an estimated lifetime (RFC 9110 §15.1).
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: return true
        default: return false
        }
    }
}
