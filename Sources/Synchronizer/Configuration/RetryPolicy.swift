import Foundation
import HTTPCaching

/// When a failed load is retried: only if its request is idempotent or has a ``CacheKey``, and its failure is probably temporary.
///
/// The delay before attempt *n* + 1 is random, from zero to `baseDelay` · 2ⁿ⁻¹, at most `maximumDelay`. So clients that
/// failed together do not return together (“full jitter”). If the server sends `Retry-After`, that is the delay (RFC
/// 9110 §10.2.3). Each origin also has a budget, so that a failing one is not flooded. A load without subscribers is
/// not retried.
public struct RetryPolicy: Hashable, Sendable {
    /// All attempts, including the first; 1 disables retries.
    public var maximumAttempts = 3
    /// Seconds: the upper bound of the first delay.
    public var baseDelay: TimeInterval = 0.5
    /// Seconds: the upper bound of any delay. If a server asks for a longer one, the load fails.
    public var maximumDelay: TimeInterval = 30
    /// Seconds from the start of the load after which no attempt begins.
    public var totalTime: TimeInterval = 60

    /// Three attempts within a minute.
    public init() {}

    /// No retries.
    public static var none: RetryPolicy {
        var policy = RetryPolicy()
        policy.maximumAttempts = 1
        return policy
    }
}

extension RetryPolicy {
    /// An attempt that failed.
    struct Failure {
        let request: URLRequest
        /// Whether the request is safe although it has a body: it has a ``CacheKey``.
        var isSafe = false
        let error: SynchronizerError
        /// The attempts so far, at least 1.
        let attempts: Int
        /// Seconds since the load began.
        let elapsed: TimeInterval
    }

    /// The seconds to wait before the next attempt; nil if there is none.
    /// - Parameter jitter: a random number from 0 to 1.
    func delay(after failure: Failure, at now: Date, jitter: Double) -> TimeInterval? {
        guard failure.attempts < maximumAttempts, Self.maySendAgain(failure.request, isSafe: failure.isSafe),
            Self.isTransient(failure.error)
        else { return nil }
        let bound = min(maximumDelay, baseDelay * pow(2, Double(failure.attempts - 1)))
        let delay = Self.retryAfter(failure.error, now: now) ?? bound * jitter
        return delay <= maximumDelay && failure.elapsed + delay <= totalTime ? delay : nil
    }

    /// Whether the request may be sent twice (RFC 9110 §9.2.2, RFC 10008 §2). A body stream cannot.
    ///
    /// - Parameter isSafe: whether the request is safe whatever its method: it has a ``CacheKey``.
    static func maySendAgain(_ request: URLRequest, isSafe: Bool) -> Bool {
        request.httpBodyStream == nil
            && (isSafe
                || ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY"].contains(request.httpMethod ?? "GET"))
    }

    static func isTransient(_ error: SynchronizerError) -> Bool {
        switch error {
        case .status(let response, _): return transientStatuses.contains(response.statusCode)
        case .transport(let error, _): return (error as? URLError).map { transientCodes.contains($0.code) } ?? false
        default: return false
        }
    }

    /// Statuses of temporary failures. Not 500: the request hit a defect of the server, and would hit it again.
    static let transientStatuses: Set<Int> = [
        408,  // Request Timeout: the server gave up waiting for the request
        425,  // Too Early: refused only because it arrived in early data (RFC 8470)
        429,  // Too Many Requests (RFC 6585)
        502,  // Bad Gateway: the upstream server is restarting
        503,  // Service Unavailable: overloaded or in maintenance
        504,  // Gateway Timeout: the upstream server was too slow
    ]

    /// Failures of the connection, not of the request. Never one of TLS (``TLSFailure``): a retry would meet the same
    /// certificate, or give an attacker another chance.
    static let transientCodes: Set<URLError.Code> = [
        .timedOut,  // lost packets, or a slow server
        .cannotFindHost,  // a resolver that changes, as when the network does
        .dnsLookupFailed,  // the same
        .cannotConnectToHost,  // the server is restarting
        .networkConnectionLost,  // a reset, perhaps of an idle connection
    ]

    /// The delay that the server asks for, as seconds or as a date.
    static func retryAfter(_ error: SynchronizerError, now: Date) -> TimeInterval? {
        guard case .status(let response, _) = error,
            let value = response.value(forHTTPHeaderField: FieldName.retryAfter)
        else { return nil }
        let text = value.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return TimeInterval(text) }
        return HTTPDate.parse(text, at: now).map { max(0, $0.timeIntervalSince(now)) }
    }
}
