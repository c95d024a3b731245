import Foundation
import HTTPCaching

/// When a load that failed is tried again: idempotent requests only, and failures that are likely to pass.
///
/// The wait before try *n* + 1 is random between nothing and `baseDelay` · 2ⁿ⁻¹, at most `maximumDelay` (“full jitter”:
/// clients that failed together do not come back together), or what the server's `Retry-After` says (RFC 9110
/// §10.2.3). Each origin has a budget besides, so that one that fails for long is not hammered. A load that nobody
/// waits for any more is not tried again.
public struct RetryPolicy: Hashable, Sendable {
    /// Tries in all, the first included; 1 tries nothing again.
    public var maximumAttempts = 3
    /// Seconds: the upper bound of the first wait.
    public var baseDelay: TimeInterval = 0.5
    /// Seconds: the upper bound of any wait. A server that asks for a longer one is not asked again.
    public var maximumDelay: TimeInterval = 30
    /// Seconds from the beginning of the load, after which no try begins.
    public var totalTime: TimeInterval = 60

    /// Three tries within a minute.
    public init() {}

    /// No second try.
    public static var none: RetryPolicy {
        var policy = RetryPolicy()
        policy.maximumAttempts = 1
        return policy
    }
}

extension RetryPolicy {
    /// Seconds to wait before the next try; nil if there is to be none.
    ///
    /// - Parameters:
    ///   - attempts: tries so far, at least 1.
    ///   - elapsed: seconds since the load began.
    ///   - random: a number from 0 to 1.
    func delay(
        before request: URLRequest, failed error: SynchronizerError, attempts: Int, elapsed: TimeInterval, now: Date,
        random: Double
    ) -> TimeInterval? {
        guard attempts < maximumAttempts, Self.isIdempotent(request), Self.isTransient(error) else { return nil }
        let bound = min(maximumDelay, baseDelay * pow(2, Double(attempts - 1)))
        let delay = Self.retryAfter(error, now: now) ?? bound * random
        return delay <= maximumDelay && elapsed + delay <= totalTime ? delay : nil
    }

    /// RFC 9110 §9.2.2; a body that is a stream cannot be sent twice.
    static func isIdempotent(_ request: URLRequest) -> Bool {
        request.httpBodyStream == nil
            && ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(request.httpMethod ?? "GET")
    }

    static func isTransient(_ error: SynchronizerError) -> Bool {
        switch error {
        case .status(let response, _): return transientStatuses.contains(response.statusCode)
        case .transport(let error, _): return (error as? URLError).map { transientCodes.contains($0.code) } ?? false
        default: return false
        }
    }

    /// Statuses that tell of a passing state. Not 500: the request met a defect, and will meet it again.
    static let transientStatuses: Set<Int> = [
        408,  // Request Timeout: the server gave up waiting for the request
        425,  // Too Early: refused only because it came in early data (RFC 8470)
        429,  // Too Many Requests: later is fine (RFC 6585)
        502,  // Bad Gateway: the server behind is being restarted
        503,  // Service Unavailable: overloaded or in maintenance
        504,  // Gateway Timeout: the server behind was too slow
    ]

    /// Failures of the way there and back, not of the request. Never one of TLS (`URLError.Code.tlsFailures`): a second
    /// try would meet the same certificate, or give an attacker another one.
    static let transientCodes: Set<URLError.Code> = [
        .timedOut,  // a packet, or the server, got lost for a while
        .cannotFindHost,  // a resolver that is being switched, as when the network changes
        .dnsLookupFailed,  // the same
        .cannotConnectToHost,  // the server is being restarted
        .networkConnectionLost,  // a reset; the connection was perhaps idle for too long
    ]

    /// The wait that the server asks for, as seconds or as a date.
    static func retryAfter(_ error: SynchronizerError, now: Date) -> TimeInterval? {
        guard case .status(let response, _) = error, let value = response.value(forHTTPHeaderField: FieldName.retryAfter)
        else { return nil }
        let text = value.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return TimeInterval(text) }
        return HTTPDate.parse(text, at: now).map { max(0, $0.timeIntervalSince(now)) }
    }
}

/// How many retries an origin may still have: each takes one, each success gives a tenth back, each minute one.
///
/// Of the origins that have failed the last thousand are remembered.
struct RetryBudget: Sendable {
    private struct Rest: Sendable {
        let retries: Double
        let at: Date
    }

    private static let full = 10.0
    private static let secondsForOne = 60.0
    private static let mostOrigins = 1_000
    /// Of origins that have less than a full budget.
    private var rests = LRUList<String, Rest>()

    mutating func take(for origin: String, at now: Date) -> Bool {
        let left = retries(of: origin, at: now)
        guard left >= 1 else { return false }
        keep(left - 1, of: origin, at: now)
        return true
    }

    mutating func succeeded(at origin: String, now: Date) {
        guard rests.count > 0, rests[origin] != nil else { return }
        keep(retries(of: origin, at: now) + 0.1, of: origin, at: now)
    }

    private func retries(of origin: String, at now: Date) -> Double {
        guard let rest = rests[origin] else { return Self.full }
        return min(Self.full, rest.retries + max(0, now.timeIntervalSince(rest.at)) / Self.secondsForOne)
    }

    private mutating func keep(_ retries: Double, of origin: String, at now: Date) {
        guard retries < Self.full else {
            rests.remove(origin)
            return
        }
        rests.insert(Rest(retries: retries, at: now), for: origin)
        if rests.count > Self.mostOrigins, let oldest = rests.leastRecentlyUsed { rests.remove(oldest) }
    }
}
