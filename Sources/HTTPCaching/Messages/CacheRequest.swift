/// The parts of a request that matter to a cache.
public struct CacheRequest: Hashable, Sendable {
    /// The key of the target URI; see ``HTTPCache/key(of:)``.
    public package(set) var url: String
    /// The method, such as `GET`. Case matters (RFC 9110 §9.1).
    public package(set) var method: String
    /// The request's own fields.
    public package(set) var fields: HTTPFields
    /// The fields that the session adds: cookies from its storage and its additional headers.
    package var sessionHeaders: HTTPFields
    /// What the caller wants of the cache.
    public package(set) var policy: CachePolicy
    /// Whether the request is a query with a body (`QUERY`, or a GraphQL query by `POST`), whose responses may be reused for the
    /// same body.
    package private(set) var isReusable = false
    /// The method under which responses to the request are stored.
    package var storedMethod: String { isReusable ? method : "GET" }

    package init(
        url: String, method: String = "GET", fields: HTTPFields = HTTPFields(),
        sessionHeaders: HTTPFields = HTTPFields(), policy: CachePolicy = .useProtocol
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.sessionHeaders = sessionHeaders
        self.policy = policy
    }

    /// Whether the responses need no explicit lifetime to be stored, and can be validated: those to a `GET`, or to a `QUERY` with
    /// a key (RFC 10008 §2.6, §2.7), but not those to a `POST` with a key (RFC 9110 §9.3.3, §13.1.2).
    package var isRetrieval: Bool { method == "GET" || (method == "QUERY" && isReusable) }

    /// The same request with a key: its responses may be reused for requests with the same key.
    package func reusable(for key: String) -> CacheRequest {
        var request = self
        request.isReusable = true
        request.fields[FieldName.bodyKey] = key
        return request
    }

    /// The key of ``reusable(for:)``; nil without one.
    package var bodyKey: String? { isReusable ? fields[FieldName.bodyKey] : nil }

    /// The value sent for a field, set by the request or added by the session; nil if the field is not sent.
    package func value(of name: String) -> String? {
        fields[name] ?? sessionHeaders[name]
    }

    /// Whether no part of the request injects a line when it is sent (RFC 9110 §5.5, RFC 9112 §3): there is no CR, LF or NUL in a
    /// field, and no white space or control character in the method or the URL.
    package var isWellFormed: Bool {
        let isOneLine = { (line: HTTPFields.Line) in hasNoBreak(line.name) && hasNoBreak(line.value) }
        return fields.lines.allSatisfy(isOneLine) && sessionHeaders.lines.allSatisfy(isOneLine)
            && isOneWord(method) && isOneWord(url)
    }

    /// Whether the names of all fields that are sent satisfy the condition, which may be called twice for a name.
    func allNames(satisfy condition: (String) -> Bool) -> Bool {
        fields.lines.allSatisfy { condition($0.name) } && sessionHeaders.lines.allSatisfy { condition($0.name) }
    }
}

private func hasNoBreak(_ text: String) -> Bool {
    text.withBytes { $0.allSatisfy { $0 != 0 && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") } }
}

private func isOneWord(_ text: String) -> Bool {
    text.withBytes { !$0.isEmpty && $0.allSatisfy { $0 > UInt8(ascii: " ") && $0 != 0x7f } }
}

/// What a caller wants of the cache: Foundation's `URLRequest.CachePolicy`, which has seven names for six policies
/// (`reloadIgnoringCacheData` is the same as `reloadIgnoringLocalCacheData`), and one policy for a cache that is offline.
public enum CachePolicy: Hashable, Sendable, CaseIterable {
    /// Follow the protocol.
    case useProtocol
    /// Use the network, without validators; store the response.
    case reloadIgnoringLocal
    /// As `reloadIgnoringLocal`; also ask caches between here and the server for a new response.
    case reloadIgnoringLocalAndRemote
    /// Use a stored response of any age; use the network on a miss.
    case returnCacheElseLoad
    /// Use a stored response of any age; never use the network.
    case returnCacheDontLoad
    /// Use a stored response if the server confirms it.
    case reloadRevalidating
    /// As `returnCacheDontLoad`, because there is no network.
    case offline

    /// Whether a stored response of any age is used.
    var acceptsAnyAge: Bool { self == .returnCacheElseLoad || neverLoads }

    /// Whether the network is never used.
    var neverLoads: Bool { self == .returnCacheDontLoad || self == .offline }
}
