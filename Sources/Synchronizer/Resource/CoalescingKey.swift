import Foundation
import HTTPCaching

/// Which objects from memory may answer a request.
enum MemoryCachePolicy: Sendable {
    case whileFresh
    /// The cache policy accepts an object of any age.
    case ofAnyAge

    /// Nil if the cache or the network must answer.
    init?(_ request: URLRequest) {
        switch request.cachePolicy {
        case .useProtocolCachePolicy: self = .whileFresh
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad: self = .ofAnyAge
        default: return nil
        }
        if let fields = request.allHTTPHeaderFields, fields.keys.contains(where: CoalescingKey.bypassesMemoryCache) {
            return nil
        }
    }
}

/// The key by which loads in flight are coalesced and objects in memory are found.
///
/// It contains all headers except tracing headers, because any of them may select the response or authenticate the user (an
/// API key in a custom header). So the headers that a stored `Vary` names are in the key.
struct CoalescingKey: Hashable, Sendable {
    private enum Method: Hashable, Sendable {
        case get, head
        /// A safe request with a body, and the digest of its ``CacheKey``.
        case asking(String, body: String)
    }

    /// A class, because keys are copied and compared much more often than they are created.
    private final class Content: Sendable {
        let url: URL
        let method: Method
        let sendsCookies: Bool
        /// Nil without headers, which is common and fast to compare.
        let fields: [String: String]?
        /// The policy of the request. It is not part of the key, and not compared.
        let memoryCachePolicy: MemoryCachePolicy?
        let urlHash: Int
        let hash: Int

        init(
            url: URL, method: Method, sendsCookies: Bool, fields: [String: String]?,
            memoryCachePolicy: MemoryCachePolicy?
        ) {
            self.memoryCachePolicy = memoryCachePolicy
            self.url = url
            self.method = method
            self.sendsCookies = sendsCookies
            self.fields = fields
            var hasher = Hasher()
            hasher.combine(url)
            let ofURL = hasher
            urlHash = ofURL.finalize()
            hasher.combine(fields)
            hash = hasher.finalize()
        }
    }

    private let content: Content

    /// Nil for a request that is never coalesced: with a body stream, a `GET` or `HEAD` with a body, or another method without a
    /// ``CacheKey``.
    ///
    /// - Parameter body: the digest of the request's ``CacheKey``, if it has one.
    init?(_ request: URLRequest, body: String? = nil) {
        guard let url = request.url?.withoutFragment, request.httpBodyStream == nil else { return nil }
        let method: Method
        switch request.httpMethod {
        case "GET"? where request.httpBody == nil, nil where request.httpBody == nil: method = .get
        case "HEAD"? where request.httpBody == nil: method = .head
        case let name?:
            guard let body, !["GET", "HEAD"].contains(name) else { return nil }
            method = .asking(name, body: body)
        case nil: return nil
        }
        content = Content(
            url: url, method: method, sendsCookies: request.httpShouldHandleCookies,
            fields: request.allHTTPHeaderFields.flatMap(Self.selecting), memoryCachePolicy: MemoryCachePolicy(request))
    }

    var memoryCachePolicy: MemoryCachePolicy? { content.memoryCachePolicy }

    /// The digest of the request's ``CacheKey``; nil for a `GET` or `HEAD`.
    var body: String? { if case .asking(_, let body) = content.method { body } else { nil } }

    /// The key under which the cache stores responses to the request.
    var cacheKey: String { CacheRules.cacheKey(of: content.url.absoluteString) }

    static func == (one: CoalescingKey, other: CoalescingKey) -> Bool {
        let (one, other) = (one.content, other.content)
        return one === other
            || (one.hash == other.hash && one.url == other.url && one.method == other.method
                && one.sendsCookies == other.sendsCookies && one.fields == other.fields)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// Computed once.
    var hash: Int { content.hash }

    /// The hash of the URL. Computed once.
    var urlHash: Int { content.urlHash }

    /// Whether a response to a request with this key also answers a request with the other key.
    ///
    /// - Parameter vary: the names of the fields that select the response, in lower case; nil for all fields.
    func sharesResponses(with other: CoalescingKey, varyingOn vary: Set<String>?) -> Bool {
        let (one, other) = (content, other.content)
        guard one.url == other.url, one.method == other.method, one.sendsCookies == other.sendsCookies else {
            return false
        }
        let (fields, others) = (one.fields ?? [:], other.fields ?? [:])
        return Set(fields.keys).union(others.keys).allSatisfy { name in
            fields[name] == others[name] || !(vary?.contains(name) ?? true || CacheRules.identifiesUser(name))
        }
    }

    private static func selecting(_ fields: [String: String]) -> [String: String]? {
        var selecting: [String: String] = [:]
        for (name, value) in fields {
            if !isTracing(name) { selecting[name.lowercased()] = value }
        }
        return selecting.isEmpty ? nil : selecting
    }

    /// Whether the header controls caching, a range, or conditions: memory does not answer such a request.
    static func bypassesMemoryCache(_ name: String) -> Bool {
        [FieldName.cacheControl, FieldName.pragma, FieldName.range].contains { HTTPFields.same($0, name) }
            || name.lowercased().hasPrefix("if-")
    }

    static func isTracing(_ name: String) -> Bool { tracing.contains(name.lowercased()) }

    /// Tracing headers: they differ from request to request, and never select a response.
    private static let tracing: Set<String> = [
        "traceparent", "tracestate", "baggage", "x-request-id", "x-correlation-id", "x-b3-traceid", "x-b3-spanid",
        "x-b3-parentspanid", "x-b3-sampled", "x-amzn-trace-id", "sentry-trace",
    ]
}

extension URL {
    /// The URL without its fragment, which is not sent (RFC 3986 §3.5).
    fileprivate var withoutFragment: URL {
        guard absoluteString.utf8.contains(UInt8(ascii: "#")),
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.fragment = nil
        return parts.url ?? self
    }
}
