/// The request fields that a response was selected by (RFC 9111 §4.1).
///
/// ``Credentials`` take part whether `Vary` names them or not: an answer to one credential is never given to another. Of
/// what is secret only a digest is kept.
package enum SelectingFields {
    /// What to keep of a request beside its response.
    /// - Parameter siblings: what is stored for the same URI: a response without `Vary` is selected by the fields that
    ///   the most recent of its siblings' `Vary` names (§4.1).
    package static func of(
        _ request: CacheRequest, for fields: HTTPFields, among siblings: [StoredResponse] = []
    ) -> HTTPFields {
        let facts = ResponseFacts(fields)
        var names = facts.varyNames
        if names.isEmpty { names = mostRecentVary(of: siblings) }
        var selecting = HTTPFields()
        for name in names where !selecting.contains(name) {
            if let value = request.value(of: name) { selecting.add(name, kept(name, value)) }
        }
        for name in bindingCredentials(of: request, facts) where !selecting.contains(name) {
            if let value = request.value(of: name) { selecting.add(name, kept(name, value)) }
        }
        return selecting
    }

    /// Whether a stored response whose fields become `newer` is selected by no more request fields than before: its `Vary`
    /// names no others, and it has not become `private`, which binds it to cookies.
    package static func select(_ newer: HTTPFields, likeThoseOf response: StoredResponse) -> Bool {
        let (stored, newer) = (ResponseFacts(response.fields), ResponseFacts(newer))
        return knows(newer.varyNames, response, stored)
            && (stored.control.contains(.isPrivate) || !newer.control.contains(.isPrivate))
    }

    /// The candidates that a new response to a request takes the place of, besides that with the same selecting fields:
    /// they could have answered the request, and what the new `Vary` names is not known of the requests that they were
    /// stored for. So nobody can tell any more for whom they are (§4.1).
    package static func superseded(
        by newer: HTTPFields, answering request: CacheRequest, among candidates: [StoredResponse]
    ) -> [Int] {
        let names = ResponseFacts(newer).varyNames
        guard !names.isEmpty, !candidates.isEmpty else { return [] }
        let siblingVary = candidates.count > 1 ? mostRecentVary(of: candidates) : []
        return candidates.indices.filter { index in
            let facts = ResponseFacts(candidates[index].fields)
            return !knows(names, candidates[index], facts)
                && match(request, candidates[index], facts, siblingVary: siblingVary)
        }
    }

    /// Whether it is known what the request of a stored response had in the fields of these names.
    private static func knows(_ names: [String], _ response: StoredResponse, _ facts: ResponseFacts) -> Bool {
        names.allSatisfy { name in
            facts.varyNames.contains { HTTPFields.same($0, name) } || response.selectingFields.contains(name)
        }
    }

    /// Credentials bind always, and so does a `Cookie` that the caller set. Cookies out of a cookie storage change with
    /// most answers of many servers; they bind what is marked as `private`.
    private static func bindingCredentials(of request: CacheRequest, _ facts: ResponseFacts) -> [String] {
        let bindsCookie = request.fields.contains("Cookie") || facts.control.contains(.isPrivate)
        let names = (request.fields.lines + request.impliedFields.lines).map(\.name)
        let binding = names.filter(Credentials.bindAlways)
        return bindsCookie ? binding + ["Cookie"] : binding
    }

    /// Whether a stored response is for requests with fields like these.
    package static func match(_ request: CacheRequest, _ response: StoredResponse) -> Bool {
        match(request, response, ResponseFacts(response.fields), siblingVary: [])
    }

    /// Whether a stored response may answer a request, as far as the request's fields go.
    static func match(
        _ request: CacheRequest, _ response: StoredResponse, _ facts: ResponseFacts, siblingVary: [String]
    ) -> Bool {
        if request.fields.isEmpty, request.impliedFields.isEmpty, response.selectingFields.isEmpty {
            return !facts.variesOnEverything
        }
        guard !facts.variesOnEverything else { return false }
        let names = facts.vary.isEmpty ? siblingVary : facts.varyNames
        return names.allSatisfy { matches($0, request, response) } && credentialsMatch(request, response)
    }

    private static func matches(_ name: String, _ request: CacheRequest, _ response: StoredResponse) -> Bool {
        let stored = response.selectingFields[name]
        guard let presented = request.value(of: name) else { return stored == nil }
        guard let stored else { return false }
        if Credentials.areSecret(in: name) { return kept(name, presented) == stored }
        return stored == presented || normalized(name, presented) == normalized(name, stored)
    }

    /// An anonymous answer is not given to a request with a credential, nor the other way round; cookies alone do not
    /// make an anonymous answer somebody's.
    private static func credentialsMatch(_ request: CacheRequest, _ response: StoredResponse) -> Bool {
        request.allNames { !Credentials.bindAlways(in: $0) || matches($0, request, response) }
            && response.selectingFields.lines.allSatisfy {
                !Credentials.contains($0.name) || matches($0.name, request, response)
            }
    }

    private static func kept(_ name: String, _ value: String) -> String {
        Credentials.areSecret(in: name) ? "sha-256=" + SHA256.hexadecimal(Array(value.utf8)) : value
    }

    /// Whether a `Vary` with this value names a field.
    package static func isNamed(_ name: String, by vary: String) -> Bool {
        vary.listedTokens.contains { HTTPFields.same($0, name) }
    }

    /// The names in the most recent `Vary` among responses; empty if none has one.
    static func mostRecentVary(of responses: [StoredResponse]) -> [String] {
        guard responses.contains(where: { $0.fields.contains("Vary") }) else { return [] }
        let varying = responses.filter { !ResponseFacts($0.fields).varyNames.isEmpty }
        return varying.max { $0.responseTime < $1.responseTime }.map { ResponseFacts($0.fields).varyNames } ?? []
    }
}

extension ResponseFacts {
    /// The field names that `Vary` lists.
    var varyNames: [String] { vary.flatMap(\.listedTokens) }

    /// Whether `Vary` has the member `*`, which no request matches (RFC 9111 §4.1).
    var variesOnEverything: Bool {
        vary.contains { $0.utf8.contains(UInt8(ascii: "*")) && $0.listedTokens.contains("*") }
    }
}
