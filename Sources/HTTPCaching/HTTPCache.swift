/// The rules of a private HTTP cache (RFC 9111, RFC 5861, RFC 8246) as functions of values: no I/O, no clock, no lock.
///
/// You keep the responses and send the requests. `HTTPCache` decides what to do with them:
///
/// 1. ``decision(for:among:at:)``: answer with a stored response, validate one, or send the request?
/// 2. When the head of a response has arrived: ``invalidatedKeys(after:status:fields:)``. After its body:
///    ``freshening(with:of:among:answering:requestTime:responseTime:)`` if it is a 304 to a validation, or else
///    ``storing(_:fields:answering:among:requestTime:responseTime:)``.
/// 3. After a failure: ``fallback(to:of:for:after:at:)``.
///
/// Keep the responses under ``key(of:)``, all variants of a URI under one key. Partial responses (206) are not stored, but a
/// stored response answers requests for its parts. Responses to `QUERY` (RFC 10008) are not stored, because their key would
/// need the body of the request, which ``CacheRequest`` does not have.
public struct HTTPCache: Hashable, Sendable {
    /// Seconds after its lifetime for which a response may be used while it is validated in the background, unless the
    /// response gives a number of its own (RFC 5861 §3).
    public var staleWhileRevalidate: TimeInterval = 0
    /// Seconds after its lifetime for which a response may be used when the server answers 500, 502, 503 or 504, unless the
    /// response or the request gives a number of its own (RFC 5861 §4).
    public var staleIfError: TimeInterval = 0
    /// Seconds after its lifetime for which a response may be used when the server cannot be reached, unless the response
    /// or the request gives a number of its own (`stale-if-error`), or the response forbids it (RFC 9111 §4.2.4).
    public var staleIfUnreachable: TimeInterval = .infinity

    /// Creates the rules, which use a stale response only if the server cannot be reached.
    public init() {}

    /// The key under which you keep the responses for a URL: the same for equivalent URLs (RFC 9110 §4.2.3).
    public static func key(of url: URL) -> String { CacheRules.cacheKey(of: url.absoluteString) }

    /// What to do about a request (RFC 9111 §4).
    public enum Decision: Hashable, Sendable {
        /// Answer with a stored response.
        case use(Answer)
        /// Answer with a stored response, and validate it afterwards by sending the request with these fields set
        /// (RFC 5861 §3).
        case useWhileRevalidating(Answer, HTTPFields)
        /// Send the request with these fields set. A 304 makes the stored response the answer (§4.3).
        case validate(Answer, HTTPFields)
        /// Send the request with these fields set, if there are any. If the server fails, ask whether the fallback may be used
        /// (``HTTPCache/fallback(to:of:for:after:at:)``).
        case send(HTTPFields, fallback: Answer?, reason: String)
        /// Neither a stored response nor the network may be used: answer with 504 (§5.2.1.7), or fail.
        case fail(reason: String)
    }

    /// A stored response as the answer to a request.
    public struct Answer: Hashable, Sendable {
        /// The position of the response among the candidates.
        public let index: Int
        /// The status to answer with: 206 for a part, 304 if the caller has the same response already.
        public let status: Int
        /// The fields to answer with, among them the current `Age`.
        public let fields: HTTPFields
        /// The bytes of the stored body to answer with; nil for the whole body, or if ``status`` is 304, which has no body.
        public let bytes: Range<Int>?
        /// The age and the lifetime of the response.
        public let freshness: Freshness
        /// The reason in one clause, such as “fresh: age 12 s of 3600 s (max-age)”.
        public let reason: String
        let selection: Selection

        init(_ selection: Selection, of response: StoredResponse, validated: Bool = false) {
            self.selection = selection
            index = selection.index
            (status, fields) = selection.head(of: response, validated: validated)
            if case .part(_, let bytes) = selection.answer { self.bytes = bytes } else { bytes = nil }
            freshness = selection.freshness
            reason = selection.explanation.description
        }

        /// The same answer, with the fields of its response after a 304 (``Freshening/update(_:removing:)``).
        public func updated(to response: StoredResponse) -> Answer {
            Answer(selection, of: response, validated: true)
        }
    }

    /// Decides what to do about a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - candidates: the responses stored under the key of the request, newest first.
    ///   - now: the current time.
    public func decision(for request: CacheRequest, among candidates: [Candidate], at now: Date) -> Decision {
        func answer(_ selection: Selection) -> Answer { Answer(selection, of: candidates[selection.index].response) }
        switch rules.decision(for: request, among: candidates, at: now) {
        case .reuse(let selection): return .use(answer(selection))
        case .reuseWhileRevalidating(let selection, let fields): return .useWhileRevalidating(answer(selection), fields)
        case .validate(let selection, let fields): return .validate(answer(selection), fields)
        case .complete(_, _, from: _): return .send(HTTPFields(), fallback: nil, reason: "only a part is stored")
        case .forward(let fields, let fallback, let explanation):
            return .send(fields, fallback: fallback.map(answer), reason: explanation.description)
        case .refuse(let explanation): return .fail(reason: explanation.description)
        }
    }

    /// The freshness of a stored response (RFC 9111 §4.2).
    public func freshness(of response: StoredResponse, at now: Date) -> Freshness {
        rules.freshness(of: response, at: now)
    }

    /// Why there is no usable response.
    public enum Failure: Hashable, Sendable {
        /// The server could not be reached, or no complete response arrived.
        case unreachable
        /// The server answered with this status.
        case status(Int)
    }

    /// The answer to use after a validation has failed, or a request with a fallback. Nil if the stored response must
    /// not be used (RFC 9111 §4.2.4, RFC 5861 §4).
    public func fallback(
        to answer: Answer, of response: StoredResponse, for request: CacheRequest, after failure: Failure, at now: Date
    ) -> Answer? {
        let failure: ServerFailure =
            switch failure {
            case .unreachable: .unreachable
            case .status(let status): .status(status)
            }
        return rules.fallback(to: answer.selection, of: response, for: request, after: failure, at: now)
            .map { Answer($0, of: response) }
    }

    private var rules: CacheRules {
        CacheRules(
            staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError,
            staleIfUnreachable: staleIfUnreachable)
    }
}
