import Foundation
import HTTPCaching

/// What a hop came to: the head of a response, and its body.
struct Answer {
    let status: Int
    let head: ResponseHead
    let location: String?
    let body: Data
    let freshUntil: Date
}

extension ManagedFetch {
    // MARK: - Out of the store

    /// Answers with a stored response; false if its body is gone, and the hop is judged again without it.
    @discardableResult
    func answer(_ hop: consuming Hop, _ selection: Selection) -> Bool {
        guard let body = body(hop, selection) else {
            actWithout(selection, hop)
            return false
        }
        hop.trace.describe(selection, source: selection.isStaleAllowed ? .stale : .cache)
        deliver(hop, selection, hop.entries[selection.index].response, body, freshUntil: freshUntil(hop, selection))
        return true
    }

    private func actWithout(_ selection: Selection, _ hop: consuming Hop) {
        hop.entries.remove(at: selection.index)
        hop.verdict = fetcher.rules.verdict(for: hop.cacheRequest, among: hop.candidates, at: fetcher.time.now)
        act(on: hop)
    }

    /// The bytes that answer: all of the stored body, a part of it, or none.
    func body(_ hop: Hop, _ selection: Selection) -> Data? {
        guard hop.cacheRequest.method != "HEAD", selection.answer != .notModified else { return Data() }
        let entry = hop.entries[selection.index]
        return (entry.body ?? fetcher.store.body(of: entry)).flatMap(selection.bytes)
    }

    private func freshUntil(_ hop: Hop, _ selection: Selection) -> Date {
        switch selection.explanation {
        case .policy:
            // The policy asked for this response at any age: the next request may not.
            return fetcher.rules.expiration(of: hop.entries[selection.index].response, at: fetcher.time.now)
        case .fresh(let freshness): return fetcher.time.now.addingTimeInterval(-freshness.staleness)
        default: return .distantPast
        }
    }

    func deliver(
        _ hop: consuming Hop, _ selection: Selection, _ response: StoredResponse, _ body: Data,
        validated: Bool = false, freshUntil: Date
    ) {
        hop.trace.bytesSpared = body.count
        let head = selection.head(of: response, validated: validated)
        deliver(
            hop,
            Answer(
                status: head.status, head: ResponseHead(url: hop.url, status: head.status, fields: head.fields),
                location: head.fields.reference("Location"), body: body, freshUntil: freshUntil))
    }

    // MARK: - To the caller, or on to the next hop

    func deliver(_ hop: Hop, _ answer: Answer) {
        switch Redirect.step(after: hop.request, status: answer.status, location: answer.location) {
        case .follow(let next): follow(next, from: hop)
        case .refuse(let code):
            finish(.failure(.transport(URLError(code), context(hop, answer))))
        case .stay: finish(result(hop, answer))
        }
    }

    private func follow(_ next: URLRequest, from hop: Hop) {
        var trace = hop.trace
        guard trace.redirects.count < Redirect.limit, let url = next.url else {
            return finish(.failure(.transport(URLError(.httpTooManyRedirects), .init(url: hop.url, trace: trace))))
        }
        trace.redirects.append(url)
        report(.redirected(to: url))
        visit(next, trace)
    }

    private func result(_ hop: Hop, _ answer: Answer) -> Result<Fetched, SynchronizerError> {
        // A part is a success only for those who asked for one.
        let isWhole = answer.status != 206 || hop.cacheRequest.fields.contains("Range")
        guard (200..<300).contains(answer.status), isWhole else {
            guard let response = answer.head.httpResponse else {
                return .failure(.transport(URLError(.badServerResponse), context(hop, answer)))
            }
            return .failure(.status(response, context(hop, answer)))
        }
        guard !answer.body.isEmpty else { return .failure(.emptyBody(context(hop, answer))) }
        var fetched = Fetched(
            body: answer.body, response: answer.head, freshUntil: answer.freshUntil, trace: hop.trace)
        fetched.isForThisLoadOnly = hop.cacheRequest.isBoundToSession(
            by: answer.head, maySendCookies: hop.request.httpShouldHandleCookies)
        return .success(fetched)
    }

    private func context(_ hop: Hop, _ answer: Answer) -> SynchronizerError.Context {
        .init(url: hop.url, trace: hop.trace, head: answer.head, body: answer.body)
    }
}

extension CacheRequest {
    /// Whether what selects the response, or binds it to a credential, is for the session to add (RFC 9111 §4.1): what
    /// it has added, or a cookie, which it has not had this time and may have the next.
    func isBoundToSession(by head: ResponseHead, maySendCookies: Bool = true) -> Bool {
        if maySendCookies, let vary = head.value(of: "Vary"), !fields.contains("Cookie"),
            SelectingFields.isNamed("Cookie", by: vary)
        {
            return true
        }
        guard !impliedFields.isEmpty else { return false }
        return SelectingFields.of(self, for: head.fields, among: []).lines.contains { !fields.contains($0.name) }
    }
}

extension Selection {
    /// Those bytes of the stored body that answer; nil if the body is too short for that.
    func bytes(of body: Data) -> Data? {
        switch answer {
        case .stored: return body
        case .notModified: return Data()
        case .part(_, let bytes):
            guard bytes.upperBound <= body.count else { return nil }
            return Data(body.dropFirst(bytes.lowerBound).prefix(bytes.count))
        }
    }

    fileprivate var isStaleAllowed: Bool { if case .staleAllowed = explanation { true } else { false } }
}

extension LoadTrace {
    /// Says what was selected, and why.
    mutating func describe(_ selection: Selection, source: LoadSource) {
        self.source = source
        explain(selection.explanation)
        describe(selection.freshness)
    }

    mutating func describe(_ freshness: Freshness) {
        age = freshness.age
        lifetime = freshness.lifetime
        lifetimeRule = freshness.rule.rawValue
    }
}
