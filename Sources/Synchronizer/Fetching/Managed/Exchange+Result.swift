import Foundation
import HTTPCaching

/// What a finished exchange means for its fetch.
enum Outcome {
    /// The server confirmed the selected response; those at these places are to be updated (RFC 9111 §4.3.4).
    case confirmed(Selection, updating: [Int])
    /// The rest of a stored part has come (§3.4).
    case completed(Selection, Combination)
    /// The conditions were of no use: the request is to be sent again without them.
    case unconditionally
    /// The stored response serves in place of a failure (§4.2.4).
    case stale(Selection)
    /// The answer is what it is.
    case answered
    case failed(any Error)
}

extension Exchange {
    func outcome(_ rules: CacheRules, at now: Date) -> Outcome {
        switch end {
        case .failure(let error): return failure(error, rules, at: now)
        case .success where reception.head == nil: return failure(URLError(.networkConnectionLost), rules, at: now)
        case .success where reception.isCutShort(method: hop.cacheRequest.method):
            return failure(URLError(.networkConnectionLost), rules, at: now)
        default: break
        }
        switch hop.verdict {
        case .validate(let selection, _) where reception.status == 304: return confirmation(of: selection)
        case .complete(let selection, _, let start) where [206, 304, 412, 416].contains(reception.status):
            return completion(of: selection, from: start)
        default: break
        }
        guard (500..<600).contains(reception.status) else { return .answered }
        return stale(.status(reception.status), rules, at: now) ?? .answered
    }

    private func failure(_ error: any Error, _ rules: CacheRules, at now: Date) -> Outcome {
        guard isDisconnection(error) else { return .failed(error) }
        return stale(.unreachable, rules, at: now) ?? .failed(error)
    }

    /// Whether the error says that the server is out of reach (RFC 9111 §4.2.4: a cache that is disconnected). Never a
    /// failure of TLS (`URLError.Code.tlsFailures`): an attacker in between could replay an old response unnoticed.
    private func isDisconnection(_ error: any Error) -> Bool {
        guard let code = (error as? URLError)?.code else { return false }
        return disconnections.contains(code)
    }

    private func confirmation(of selection: Selection) -> Outcome {
        let outcome = Freshening.outcome(
            of: reception.fields, asked: selection.index, among: hop.candidates, for: hop.cacheRequest)
        switch outcome {
        case .update(let indices): return .confirmed(selection, updating: indices)
        case .mismatch: return .unconditionally
        }
    }

    private func completion(of selection: Selection, from start: Int) -> Outcome {
        let combination = Combination(
            of: hop.entries[selection.index].candidate, with: reception.status, reception.fields,
            bodySize: reception.body.count)
        guard let combination, combination.part == nil, combination.before == 0..<start else { return .unconditionally }
        return .completed(selection, combination)
    }

    private func stale(_ failure: ServerFailure, _ rules: CacheRules, at now: Date) -> Outcome? {
        guard let fallback = hop.fallback else { return nil }
        let response = hop.entries[fallback.index].response
        return rules.selection(fallback, of: response, for: hop.cacheRequest, after: failure, at: now)
            .map(Outcome.stale)
    }
}

/// Failures that say that the server is out of reach.
private let disconnections: Set<URLError.Code> = [
    .notConnectedToInternet,
    .internationalRoamingOff,  // there is a network, which is not to be used abroad
    .callIsActive,  // a telephone that cannot do both
    .dataNotAllowed,  // the system does not let the program use the mobile network
    .cannotFindHost,  // no name server, or none that knows
    .dnsLookupFailed,  // the same
    .cannotConnectToHost,  // nobody listens, or the way is blocked
    .timedOut,  // nobody answers
    .networkConnectionLost,  // a reset, or a body cut short
]

extension Hop {
    /// What may serve if the network does not.
    var fallback: Selection? {
        switch verdict {
        case .validate(let selection, _): return selection
        case .forward(_, let fallback, _): return fallback
        case .reuse, .reuseWhileRevalidating, .complete, .refuse: return nil
        }
    }

    /// The request as it is sent.
    var outboundRequest: URLRequest {
        var outbound = request
        for line in outboundFields.lines { outbound.setValue(line.value, forHTTPHeaderField: line.name) }
        return outbound
    }

    private var outboundFields: HTTPFields {
        switch verdict {
        case .validate(_, let fields), .complete(_, let fields, _), .forward(let fields, _, _),
            .reuseWhileRevalidating(_, let fields):
            return fields
        case .reuse, .refuse: return HTTPFields()
        }
    }

    /// The validators that are sent, as a person reads them.
    var validators: [String] {
        outboundFields.lines.filter { $0.name.hasPrefix("If-") }.map { "\($0.name): \($0.value)" }
    }
}
