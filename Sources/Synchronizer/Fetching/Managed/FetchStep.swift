import Foundation
import HTTPCaching

/// One request of a fetch, the first or that of a redirect, and what the cache decided about it.
struct FetchStep: Sendable {
    let request: URLRequest
    let url: URL
    var cacheRequest: CacheRequest
    /// The moment of ``BackgroundRefreshes`` before the entries were looked up.
    var lookupMoment = 0
    /// The entries found for the URL.
    var entries: [CacheEntry]
    var decision: CacheDecision
    var trace: LoadTrace
    /// What the redirects before this step allow of the object in memory.
    var redirectLifetime = RedirectLifetime()

    var candidates: [Candidate] { entries.map(\.candidate) }

    var context: SynchronizerError.Context { .init(url: url, trace: trace) }

    /// Looks the request up again.
    var again: ManagedFetch.Start { .request(request, trace, redirectLifetime) }

    /// The step without bodies, for the network: very many steps may wait, and an entry may change in the meantime.
    var withoutBodies: FetchStep {
        var step = self
        step.entries = entries.map(\.withoutBody)
        return step
    }

    /// The step after the body of the selected entry turned out to be gone: decided again without that entry.
    func without(_ selection: Selection, rules: CacheRules, at now: Date) -> FetchStep {
        var step = self
        step.entries.remove(at: selection.index)
        step.decision = rules.decision(for: cacheRequest, among: step.candidates, at: now)
        return step
    }

    /// Whether the step can be made again from its request alone.
    var isFirstMiss: Bool {
        guard case .forward(_, nil, let reason) = decision, reason != .notHTTP else { return false }
        return entries.isEmpty && trace == LoadTrace()
    }

    /// The selection that may be used if the network fails.
    var fallback: Selection? {
        switch decision {
        case .validate(let selection, _): return selection
        case .forward(_, let fallback, _): return fallback
        case .reuse, .reuseWhileRevalidating, .complete, .refuse: return nil
        }
    }
}

// MARK: - The request to send

extension FetchStep {
    /// The request with the fields that the decision adds.
    var outboundRequest: URLRequest {
        var outbound = request
        for line in outboundFields.lines { outbound.setValue(line.value, forHTTPHeaderField: line.name) }
        return outbound
    }

    private var outboundFields: HTTPFields {
        switch decision {
        case .validate(_, let fields), .complete(_, let fields, _), .forward(let fields, _, _),
            .reuseWhileRevalidating(_, let fields):
            return fields
        case .reuse, .refuse: return HTTPFields()
        }
    }

    /// The validators to send, as text for the trace.
    var validators: [String] {
        outboundFields.lines.filter { $0.name.hasPrefix("If-") }.map { "\($0.name): \($0.value)" }
    }

    /// The names of the fields that a validation does not take over from the request of the load.
    private static let conditionalFields = [
        FieldName.range, FieldName.ifRange, FieldName.ifNoneMatch, FieldName.ifModifiedSince,
    ]

    private var plainGET: CacheRequest {
        var request = cacheRequest
        for name in Self.conditionalFields { request.fields.remove(name) }
        request.method = "GET"
        return request
    }

    /// The request of a validation of the step's response, without its conditions. Equal requests get the same response.
    var refreshRequest: CacheRequest {
        var request = plainGET
        request.policy = .useProtocol
        return request
    }

    /// The same request as a plain `GET` that validates the selected response.
    func refreshing(_ selection: Selection, fields: HTTPFields) -> FetchStep {
        var request = request
        for name in Self.conditionalFields { request.setValue(nil, forHTTPHeaderField: name) }
        request.httpMethod = "GET"
        return FetchStep(
            request: request, url: url, cacheRequest: plainGET, lookupMoment: lookupMoment, entries: entries,
            decision: fields.isEmpty
                ? .forward(fields, fallback: selection, selection.explanation) : .validate(selection, fields),
            trace: trace, redirectLifetime: redirectLifetime)
    }
}
