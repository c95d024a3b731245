extension Judge {
    /// Reuse, or a 304 if the caller validates a response of its own that is the selected one (RFC 9111 §4.3.2).
    func reuse(_ selection: Selection, _ response: StoredResponse, _ facts: ResponseFacts) -> Verdict {
        var selection = selection
        if directives.isConditional, callerHasSame(response, facts) { selection.answer = .notModified }
        return .reuse(selection)
    }

    func reuseWhileRevalidating(_ selection: Selection, _ response: StoredResponse, _ facts: ResponseFacts) -> Verdict {
        guard case .reuse(let selection) = reuse(selection, response, facts) else { return .reuse(selection) }
        return .reuseWhileRevalidating(selection, conditions(facts, selection))
    }

    /// A conditional request for the selected response (§4.3.1). A request that is conditional already is sent as it
    /// is: the caller wants to hear what the server says to its own validators.
    func validation(of selection: Selection, _ facts: ResponseFacts) -> Verdict {
        guard !directives.isConditional else { return outbound(.conditional, fallback: nil) }
        let conditions = conditions(facts, selection)
        guard mayUseNetwork, request.method == "GET", !conditions.isEmpty else {
            return outbound(selection.explanation, fallback: selection)
        }
        var fields = directiveFields
        fields.replace(with: conditions)
        return .validate(selection, fields)
    }

    /// Both validators, where the response has them (§4.3.1): the entity tag must be sent; the date helps recipients
    /// that do not know entity tags, and is left out of requests for a range.
    private func conditions(_ facts: ResponseFacts, _ selection: Selection) -> HTTPFields {
        var fields = HTTPFields()
        if let tag = facts.entityTag, !tag.isEmpty { fields.add("If-None-Match", tag) }
        if let date = facts.lastModified, !date.isEmpty, directives.range == nil {
            fields.add("If-Modified-Since", date)
        }
        return fields
    }

    /// §4.3.2, RFC 9110 §13.2.2: `If-None-Match` takes precedence over `If-Modified-Since`.
    private func callerHasSame(_ response: StoredResponse, _ facts: ResponseFacts) -> Bool {
        guard response.status == 200 || response.status == 206 else { return false }
        if !directives.ifNoneMatch.isEmpty {
            guard let tag = facts.entityTag.flatMap(EntityTag.init) else {
                return directives.ifNoneMatch.contains { $0.utf8.elementsEqual("*".utf8) }
            }
            return directives.ifNoneMatch.contains { tag.isListed(in: $0) }
        }
        guard let since = directives.ifModifiedSince.flatMap({ HTTPDate.parse($0, at: now) }) else { return false }
        let modified = facts.lastModified ?? facts.date
        let date = modified.flatMap { HTTPDate.parse($0, at: response.responseTime) } ?? response.responseTime
        return date <= since
    }
}
