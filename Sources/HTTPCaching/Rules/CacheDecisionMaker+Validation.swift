extension CacheDecisionMaker {
    /// Reuses the selected response; answers 304 if the request validates the caller's own copy of it (RFC 9111 §4.3.2).
    func reuse(_ selection: Selection, of response: StoredResponse) -> CacheDecision {
        var selection = selection
        if directives.isConditional, callerHasSame(response) { selection.answer = .notModified }
        return .reuse(selection)
    }

    func reuseWhileRevalidating(_ selection: Selection, of response: StoredResponse) -> CacheDecision {
        guard case .reuse(let selection) = reuse(selection, of: response) else { return .reuse(selection) }
        return .reuseWhileRevalidating(selection, conditions(for: response))
    }

    /// A conditional request for the selected response (§4.3.1). A request that is conditional already is sent unchanged:
    /// the caller wants the server's answer to its own validators.
    func validation(for selection: Selection, of response: StoredResponse) -> CacheDecision {
        guard !directives.isConditional else { return outbound(.conditional, fallback: nil) }
        let conditions = conditions(for: response)
        guard mayUseNetwork, request.isRetrieval, !conditions.isEmpty else {
            return outbound(selection.explanation, fallback: selection)
        }
        var fields = request.directiveFields
        fields.replace(with: conditions)
        return .validate(selection, fields)
    }

    /// The conditions of a validation (§4.3.1): the entity tag, which must be sent if the response has one; and its date, for
    /// servers that do not support entity tags, except in range requests. There are none for a stored 404 or 301, which a 304
    /// could not confirm (RFC 9110 §15.4.5).
    private func conditions(for response: StoredResponse) -> HTTPFields {
        var fields = HTTPFields()
        guard response.isRepresentation, response.facts.contains(.hasValidator) else { return fields }
        if let tag = response.fields.entityTag, !tag.isEmpty { fields.add(FieldName.ifNoneMatch, value: tag) }
        if let date = response.fields.lastModified, !date.isEmpty, directives.range == nil {
            fields.add(FieldName.ifModifiedSince, value: date)
        }
        return fields
    }

    /// §4.3.2, RFC 9110 §13.2.2: `If-None-Match` takes precedence over `If-Modified-Since`.
    private func callerHasSame(_ response: StoredResponse) -> Bool {
        guard response.isRepresentation else { return false }
        if !directives.ifNoneMatch.isEmpty {
            guard let tag = response.fields.entityTag.flatMap(EntityTag.init) else {
                return directives.ifNoneMatch.contains { $0.utf8.elementsEqual("*".utf8) }
            }
            return directives.ifNoneMatch.contains { tag.isListed(in: $0) }
        }
        guard let since = directives.ifModifiedSince.flatMap({ HTTPDate.parse($0, at: now) }) else { return false }
        guard let modified = response.fields.lastModified else { return response.facts.generated <= since }
        return HTTPDate.parse(modified, at: response.responseTime) ?? response.responseTime <= since
    }
}
