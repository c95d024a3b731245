// Which request fields select a stored response (RFC 9111 §4.1).
//
// Credentials select whether `Vary` names them or not: a response to one credential never answers another. Secret values
// are stored as digests only. `CacheRules+Cookies.swift` says which cookies select.
extension CacheRules {
    /// The request fields to store with a response.
    /// - Parameter siblings: the other responses stored for the URI. A response without `Vary` is selected by the fields
    ///   that the most recent `Vary` among its siblings names (§4.1).
    package static func selectingFields(
        of request: CacheRequest, for fields: HTTPFields, among siblings: [StoredResponse] = []
    ) -> HTTPFields {
        let facts = ResponseFacts(fields)
        var names = facts.varyNames
        if names.isEmpty { names = mostRecentVary(of: siblings) }
        var selecting = HTTPFields()
        for name in names where !selecting.contains(name) {
            if let value = request.value(of: name) { selecting.add(name, value: concealed(value, of: name)) }
        }
        for name in bindingCredentials(of: request, facts: facts) where !selecting.contains(name) {
            if let value = request.value(of: name) { selecting.add(name, value: concealed(value, of: name)) }
        }
        return selecting
    }

    /// A response with newer fields, as it may be stored; nil if it must be removed.
    ///
    /// If the newer fields select by more request fields than before, the values of these request fields are only known for the
    /// request for which the server has confirmed the response. From then on, the response answers requests like that one.
    ///
    /// - Parameters:
    ///   - updated: the stored response with the newer fields.
    ///   - stored: the stored response with its own fields.
    ///   - request: the request that the response answers; nil if another response answers it.
    ///   - siblings: the responses stored for the URI.
    package static func rebound(
        _ updated: StoredResponse, from stored: StoredResponse, to request: CacheRequest?,
        among siblings: [StoredResponse]
    ) -> StoredResponse? {
        if selectsNoMore(with: updated.fields, than: stored) { return updated }
        guard let request else { return nil }
        var rebound = updated
        rebound.selectingFields = selectingFields(of: request, for: updated.fields, among: siblings)
        return rebound
    }

    /// Whether the newer fields select by no more request fields than the stored ones: `Vary` names no other field, and the
    /// response has not become `private`, which binds it to cookies.
    private static func selectsNoMore(with newer: HTTPFields, than response: StoredResponse) -> Bool {
        let newer = ResponseFacts(newer)
        return knows(newer.varyNames, of: response)
            && (response.facts.contains(.isPrivate) || !newer.control.contains(.isPrivate))
    }

    /// The candidates that a new response replaces, besides the one with the same selecting fields. They could have answered
    /// the request. But the values of the fields that the new `Vary` names are not known for the requests that they answered, so
    /// it is no longer known which requests they answer (§4.1).
    package static func superseded(
        by newer: HTTPFields, answering request: CacheRequest, among candidates: [StoredResponse]
    ) -> [Int] {
        let names = ResponseFacts(newer).varyNames
        guard !names.isEmpty, !candidates.isEmpty else { return [] }
        return selected(by: request, among: candidates).filter { !knows(names, of: candidates[$0]) }
    }

    /// The positions of the candidates that the fields of a request select.
    private static func selected(by request: CacheRequest, among candidates: [StoredResponse]) -> [Int] {
        let siblingVary = candidates.count > 1 ? mostRecentVary(of: candidates) : []
        return candidates.indices.filter { selects(candidates[$0], for: request, siblingVary: siblingVary) }
    }

    /// Whether the server's answer to a request shows that stored responses to it are outdated: the server has sent another
    /// response (§4.3.3). If that response is not stored, they must not outlive it.
    package static func outdatesStored(_ status: Int, answering request: CacheRequest) -> Bool {
        (request.method == "GET" || request.isReusable) && describesResource(status) && !forbidsStoring(request)
    }

    /// The positions of the stored responses that could have answered the request, which are then outdated.
    package static func outdated(for request: CacheRequest, among candidates: [StoredResponse]) -> [Int] {
        selected(by: request, among: candidates).filter { candidates[$0].method == request.storedMethod }
    }

    /// Whether a response with this status tells what the resource is now. Others are about the request (its conditions, its range,
    /// its credentials, its time), send it elsewhere for now, or say that the server has failed.
    package static func describesResource(_ status: Int) -> Bool {
        switch status {
        case 206: false
        case 200..<300, 301, 308, 403, 404, 410, 451: true
        default: false
        }
    }

    /// The names of the request fields that select a response, in lower case; nil if it varies on everything.
    package static func varyNames(of fields: HTTPFields) -> Set<String>? {
        let facts = ResponseFacts(fields)
        return facts.variesOnEverything ? nil : Set(facts.varyNames.map { $0.lowercased() })
    }

    /// Whether the values of these fields are known for the request that a stored response answered.
    private static func knows(_ names: [String], of response: StoredResponse) -> Bool {
        if names.isEmpty { return true }
        // Sets: the names come from servers, and there may be very many.
        let known = Set((response.varyNames + response.selectingFields.lines.map(\.name)).map(FoldedName.init))
        return names.allSatisfy { known.contains(FoldedName($0)) }
    }

    /// Whether the fields of a request select a stored response.
    package static func selects(_ response: StoredResponse, for request: CacheRequest) -> Bool {
        selects(response, for: request, siblingVary: [])
    }

    static func selects(_ response: StoredResponse, for request: CacheRequest, siblingVary: [String]) -> Bool {
        let facts = response.facts
        guard !facts.contains(.variesOnEverything) else { return false }
        if request.fields.isEmpty, request.sessionHeaders.isEmpty, response.selectingFields.isEmpty { return true }
        let names = facts.contains(.hasVary) ? response.varyNames : siblingVary
        return names.allSatisfy { matches($0, request: request, response: response) }
            && credentialsMatch(request: request, response: response)
    }

    @inline(never)
    private static func matches(_ name: String, request: CacheRequest, response: StoredResponse) -> Bool {
        let stored = response.selectingFields[name]
        guard let presented = request.value(of: name) else { return stored == nil }
        guard let stored else { return false }
        if isSecret(name) { return concealed(presented, of: name) == stored }
        return stored == presented || normalized(presented, of: name) == normalized(stored, of: name)
    }

    /// A response to an anonymous request does not answer a request with a credential, nor the other way round. It does answer a
    /// request that has only cookies.
    private static func credentialsMatch(request: CacheRequest, response: StoredResponse) -> Bool {
        request.allNames { !alwaysBinds($0) || matches($0, request: request, response: response) }
            && response.selectingFields.lines.allSatisfy {
                !isCredential($0.name) || matches($0.name, request: request, response: response)
            }
    }

    /// The value to store: the digest of a secret, any other value as it is.
    static func concealed(_ value: String, of name: String) -> String {
        isSecret(name) ? "sha-256=" + SHA256.hexadecimal(Array(value.utf8)) : value
    }

    /// Whether a `Vary` with this value names the field.
    package static func names(_ name: String, in vary: String) -> Bool {
        vary.listedTokens.contains { HTTPFields.same($0, name) }
    }

    /// The names in the most recent `Vary` among responses; empty if no response has `Vary`.
    static func mostRecentVary(of responses: [StoredResponse]) -> [String] {
        let varying = responses.filter { !$0.varyNames.isEmpty }
        return varying.max { $0.responseTime < $1.responseTime }?.varyNames ?? []
    }
}

extension CacheRequest {
    /// ``bodyKey`` as ``StoredResponse/bodyKey`` has it.
    package var storedBodyKey: String? { bodyKey.map { CacheRules.concealed($0, of: FieldName.bodyKey) } }
}

extension StoredResponse {
    /// The field names that `Vary` lists.
    var varyNames: [String] {
        facts.contains(.hasVary) ? fieldNames(in: fields.values(of: FieldName.vary)) : []
    }
}

extension ResponseFacts {
    /// The field names that `Vary` lists.
    var varyNames: [String] { fieldNames(in: vary) }

    /// Whether `Vary` contains `*`, which no request matches (RFC 9111 §4.1). A malformed member, as in `Accept-Language; Cookie`,
    /// counts as `*`: the fields that it means are unknown, and without it the response would answer every request.
    var variesOnEverything: Bool {
        vary.contains { value in
            let (tokens, isWellFormed) = value.tokenList
            return !isWellFormed || tokens.contains("*")
        }
    }
}

/// The names in these lines of `Vary`, each once: for each name, a lookup may compute the digest of a long cookie.
private func fieldNames(in vary: [String]) -> [String] {
    let names = vary.flatMap(\.listedTokens)
    guard names.count > 1 else { return names }
    var known = Set<FoldedName>()
    return names.filter { known.insert(FoldedName($0)).inserted }
}
