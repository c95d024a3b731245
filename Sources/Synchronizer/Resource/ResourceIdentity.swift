import Foundation
import HTTPCaching

/// A request with what tells it from others as far as sharing goes: its method, URL, fields and cache policy.
///
/// A load sends exactly the request that its identity was made of. So the answer to one credential is never kept under
/// another, even if ``Resource/request()`` gives another credential with each call.
///
/// Making one takes longer than looking an object up in memory; a resource that is asked for often keeps its own. See
/// ``Resource/identity``.
public struct ResourceIdentity: Sendable {
    /// The request to send.
    package let request: URLRequest
    /// What is shared by; nil for a request that shares with nobody.
    let sharing: RequestIdentity?

    /// The identity of a request, which is the one that is sent.
    public init(_ request: URLRequest) {
        var request = request
        if let url = request.url, !url.isPlainHTTP { request.url = url.withLowercaseScheme }
        self.request = request
        sharing = RequestIdentity(request)
    }

    /// Nil for a request that must not be answered with an object from memory.
    var memoryUse: MemoryUse? { sharing?.memoryUse }

    /// The same for a request with the default policy where it sets none of its own.
    func settingDefault(_ policy: URLRequest.CachePolicy) -> ResourceIdentity {
        guard policy != .useProtocolCachePolicy, request.cachePolicy == .useProtocolCachePolicy else { return self }
        var request = request
        request.cachePolicy = policy
        return ResourceIdentity(request)
    }
}

extension ResourceIdentity: Equatable {
    /// Whether the loads of both are the same. `URLRequest` itself does not compare its fields on Linux.
    public static func == (one: ResourceIdentity, other: ResourceIdentity) -> Bool {
        guard let sharing = one.sharing else {
            return other.sharing == nil && one.request == other.request
                && one.request.allHTTPHeaderFields == other.request.allHTTPHeaderFields
                && one.request.httpBody == other.request.httpBody
        }
        return sharing == other.sharing && one.request.cachePolicy == other.request.cachePolicy
    }
}

/// Whether a request may be answered with an object from memory.
enum MemoryUse: Sendable {
    case whileFresh
    /// The cache policy takes what is there, whatever its age.
    case ofAnyAge

    /// Nil if the answer has to be judged, or fetched, anew.
    init?(_ request: URLRequest) {
        switch request.cachePolicy {
        case .useProtocolCachePolicy: self = .whileFresh
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad: self = .ofAnyAge
        default: return nil
        }
        if let fields = request.allHTTPHeaderFields, fields.keys.contains(where: RequestIdentity.callsForJudgement) {
            return nil
        }
    }
}

/// What makes two requests the same: their answers may be shared, in flight and in memory.
///
/// All of the request's fields count, because any of them may select the answer or prove who asks (an API key in a
/// field of its own), except those that only trace a request. So whatever a stored `Vary` names is in the key.
struct RequestIdentity: Hashable, Sendable {
    private enum Method: Hashable, Sendable { case get, head }

    /// What is compared, in one object: identities are copied and compared much more often than they are made.
    private final class Content: Sendable {
        let url: URL
        let method: Method
        let sendsCookies: Bool
        /// Nil where there are none, which is common and quickly compared.
        let fields: [String: String]?
        /// Goes with the request, and is not compared.
        let memoryUse: MemoryUse?
        let hash: Int

        init(url: URL, method: Method, sendsCookies: Bool, fields: [String: String]?, memoryUse: MemoryUse?) {
            self.memoryUse = memoryUse
            self.url = url
            self.method = method
            self.sendsCookies = sendsCookies
            self.fields = fields
            var hasher = Hasher()
            hasher.combine(url)
            hasher.combine(fields)
            hash = hasher.finalize()
        }
    }

    private let content: Content

    /// Nil for a request that shares with nobody: an unsafe method, or a body.
    init?(_ request: URLRequest) {
        guard let url = request.url?.withoutFragment, request.httpBody == nil, request.httpBodyStream == nil
        else { return nil }
        let method: Method
        switch request.httpMethod {
        case "GET"?, nil: method = .get
        case "HEAD"?: method = .head
        default: return nil
        }
        content = Content(
            url: url, method: method, sendsCookies: request.httpShouldHandleCookies,
            fields: request.allHTTPHeaderFields.flatMap(Self.selecting), memoryUse: MemoryUse(request))
    }

    var memoryUse: MemoryUse? { content.memoryUse }

    /// The key under which the cache stores what this is answered with.
    var cacheKey: String { CacheRules.cacheKey(of: content.url.absoluteString) }

    static func == (one: RequestIdentity, other: RequestIdentity) -> Bool {
        let (one, other) = (one.content, other.content)
        return one === other
            || (one.hash == other.hash && one.url == other.url && one.method == other.method
                && one.sendsCookies == other.sendsCookies && one.fields == other.fields)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// Made once.
    var hash: Int { content.hash }

    private static func selecting(_ fields: [String: String]) -> [String: String]? {
        var selecting: [String: String] = [:]
        for (name, value) in fields {
            let name = name.lowercased()
            if !tracing.contains(name) { selecting[name] = value }
        }
        return selecting.isEmpty ? nil : selecting
    }

    /// Whether this field makes the caller take part in caching: its request is answered by the cache below, or by
    /// the network, and not with an object from memory.
    static func callsForJudgement(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == "cache-control" || name == "pragma" || name == "range" || name.hasPrefix("if-")
    }

    /// Fields that differ from request to request and never select an answer.
    private static let tracing: Set<String> = [
        "traceparent", "tracestate", "baggage", "x-request-id", "x-correlation-id", "x-b3-traceid", "x-b3-spanid",
        "x-b3-parentspanid", "x-b3-sampled", "x-amzn-trace-id", "sentry-trace",
    ]
}

extension URL {
    /// The fragment is not sent, and says nothing of what is loaded (RFC 3986 §3.5).
    fileprivate var withoutFragment: URL {
        guard absoluteString.utf8.contains(UInt8(ascii: "#")),
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.fragment = nil
        return parts.url ?? self
    }
}
