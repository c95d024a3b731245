import Foundation
import HTTPCaching

/// What a finished exchange means for its fetch.
enum ExchangeResult {
    /// The server confirmed the selected response; the entries at these positions must be updated (RFC 9111 §4.3.4).
    case confirmed(Selection, updating: [Int])
    /// The rest of a stored part has arrived (§3.4).
    case completed(Selection, Combination)
    /// The response does not fit the stored one: the request must be sent again without conditions.
    case mismatch
    /// A stored response is used instead of a failure (§4.2.4).
    case stale(Selection)
    /// The response is the answer.
    case answered
    case failed(any Error)
}

extension Exchange {
    func result(_ rules: CacheRules, at now: Date) -> ExchangeResult {
        if isMisfit { return .mismatch }
        if let failure { return result(of: failure, rules: rules, at: now) }
        switch step.decision {
        case .validate(let selection, _) where received.status == 304: return confirmation(of: selection)
        // A server that does not know QUERY answers a condition as it does for an unsafe method (RFC 9110 §13.1.2).
        case .validate where received.status == 412 && step.cacheRequest.isReusable: return .mismatch
        case .complete where received.isTooLarge && resumption != nil: return .answered
        case .complete(let selection, _, let start) where [206, 304, 412, 416].contains(received.status):
            return completion(of: selection, from: start)
        default: break
        }
        guard (500..<600).contains(received.status) else { return .answered }
        return stale(after: .status(received.status), rules: rules, at: now) ?? .answered
    }

    /// Why there is no whole response; nil if there is one.
    var failure: (any Error)? {
        if case .failure(let error)? = end { return error }
        let isWhole = received.head != nil && !received.isCutShort
        return isWhole ? nil : URLError.incompleteResponse
    }

    private func result(of error: any Error, rules: CacheRules, at now: Date) -> ExchangeResult {
        if error is BodySink.BeginningIsGone { return .mismatch }
        guard let code = (error as? URLError)?.code, disconnections.contains(code) else { return .failed(error) }
        return stale(after: .unreachable, rules: rules, at: now) ?? .failed(error)
    }

    private func confirmation(of selection: Selection) -> ExchangeResult {
        let confirmation = CacheRules.confirmation(
            by: received.fields, asked: selection.index, among: step.candidates, for: step.cacheRequest)
        switch confirmation {
        case .update(let indices): return .confirmed(selection, updating: indices)
        case .mismatch: return .mismatch
        }
    }

    private func completion(of selection: Selection, from start: Int) -> ExchangeResult {
        combination(of: selection, from: start, bodySize: received.count).map { .completed(selection, $0) } ?? .mismatch
    }

    private func combination(of selection: Selection, from start: Int, bodySize: Int) -> Combination? {
        let combination = CacheRules.combination(
            of: step.entries[selection.index].candidate, with: received.status, fields: received.fields,
            bodySize: bodySize)
        return combination?.part == nil && combination?.before == 0..<start ? combination : nil
    }

    /// Whether the rest of the body is not worth receiving: the body is too large, or it is not the rest of the stored part.
    var hasUselessBody: Bool { received.isTooLarge || isMisfit }

    /// Whether the head of a 206 says that it is not the rest of the stored part.
    private var isMisfit: Bool {
        guard received.status == 206, case .complete(let selection, _, let start) = step.decision else { return false }
        guard let part = CacheRules.part(of: received.fields) else { return true }
        let bodySize = received.bodyLength ?? part.range.count
        return combination(of: selection, from: start, bodySize: bodySize) == nil
    }

    private func stale(after failure: ServerFailure, rules: CacheRules, at now: Date) -> ExchangeResult? {
        guard let fallback = step.fallback else { return nil }
        let response = step.entries[fallback.index].response
        return rules.fallback(to: fallback, of: response, for: step.cacheRequest, after: failure, at: now)
            .map(ExchangeResult.stale)
    }
}

/// Failures after which the server counts as unreachable (RFC 9111 §4.2.4: a disconnected cache). Never one of TLS
/// (``TLSFailure``): an attacker could replay an old response unnoticed.
private let disconnections: Set<URLError.Code> = [
    .notConnectedToInternet,
    .internationalRoamingOff,  // roaming is not allowed
    .callIsActive,  // the phone cannot use data during a call
    .dataNotAllowed,  // the system does not let the program use mobile data
    .cannotFindHost,  // no name server, or an unknown name
    .dnsLookupFailed,
    .cannotConnectToHost,  // no server listens, or a firewall blocks the connection
    .timedOut,
    .networkConnectionLost,  // a reset, or a body cut short
]
