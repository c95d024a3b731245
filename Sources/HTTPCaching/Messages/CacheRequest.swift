/// A request, as far as a cache looks at it.
package struct CacheRequest: Hashable, Sendable {
    /// The key of the target URI; see `cacheKey(of:)`.
    package var url: String
    package var method: String
    /// The request's own fields.
    package var fields: HTTPFields
    /// The fields that are sent besides: cookies of a cookie storage, what the session adds to each request.
    package var impliedFields: HTTPFields
    package var policy: CachePolicy

    package init(
        url: String, method: String = "GET", fields: HTTPFields = HTTPFields(),
        impliedFields: HTTPFields = HTTPFields(), policy: CachePolicy = .useProtocol
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.impliedFields = impliedFields
        self.policy = policy
    }

    /// The value that is sent for a field, wherever it comes from; nil if it is not sent.
    package func value(of name: String) -> String? {
        fields[name] ?? impliedFields[name]
    }

    /// Whether nothing in it could become a line of its own where it is sent (RFC 9110 §5.5, RFC 9112 §3): no CR, LF or NUL
    /// in a field, no white space or control character in the method or the URL.
    package var isWellFormed: Bool {
        let isOneLine = { (line: HTTPFields.Line) in hasNoBreak(line.name) && hasNoBreak(line.value) }
        return fields.lines.allSatisfy(isOneLine) && impliedFields.lines.allSatisfy(isOneLine)
            && isOneWord(method) && isOneWord(url)
    }

    /// Whether this holds for the names of all fields that are sent; some may be asked about twice.
    func allNames(satisfy condition: (String) -> Bool) -> Bool {
        fields.lines.allSatisfy { condition($0.name) } && impliedFields.lines.allSatisfy { condition($0.name) }
    }
}

private func hasNoBreak(_ text: String) -> Bool {
    text.withBytes { $0.allSatisfy { $0 != 0 && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") } }
}

private func isOneWord(_ text: String) -> Bool {
    text.withBytes { !$0.isEmpty && $0.allSatisfy { $0 > UInt8(ascii: " ") && $0 != 0x7f } }
}

/// The meanings of Foundation's `URLRequest.CachePolicy`: seven names, of which `reloadIgnoringCacheData` is another
/// one for `reloadIgnoringLocalCacheData`.
package enum CachePolicy: Hashable, Sendable, CaseIterable {
    /// What the protocol says.
    case useProtocol
    /// The network, without validators; the answer is stored.
    case reloadIgnoringLocal
    /// The same, and caches on the way are told to do so, too.
    case reloadIgnoringLocalAndRemote
    /// What is stored, whatever its age; the network if nothing is.
    case returnCacheElseLoad
    /// What is stored, whatever its age; never the network.
    case returnCacheDontLoad
    /// What is stored if the server confirms it.
    case reloadRevalidating
}

/// What a cache may decide for itself.
package struct CacheRules: Hashable, Sendable {
    /// The share of the time since `Last-Modified` for which a response without a lifetime is fresh (RFC 9111 §4.2.2).
    package var heuristicFraction = 0.1
    /// The longest such time, in seconds.
    package var heuristicLimit: Double = 7 * 86_400
    /// How long after its lifetime a response may be used while it is validated in the background, in seconds, where
    /// it does not say so itself (RFC 5861 §3).
    package var staleWhileRevalidate: Double = 0
    /// How long after its lifetime a response may be used when the server answers 500, 502, 503 or 504, in seconds,
    /// where it does not say so itself (RFC 5861 §4).
    package var staleIfError: Double = 0
    /// How long after its lifetime a response may be used when the server cannot be reached, in seconds, where it
    /// does not say so itself (RFC 9111 §4.2.4: a cache that is disconnected).
    package var staleIfUnreachable: Double = .infinity

    package init() {}
}
