import Foundation
import HTTPCaching

// What managed and native fetches both do with stored responses.

extension Fetched {
    /// A stored response to show while the server validates it; nil if it must not be shown before that (RFC 9111 §4.2.4), or
    /// if it has nothing to show.
    static func provisional(
        _ selection: Selection, of response: StoredResponse, url: URL, trace: LoadTrace, addsAge: Bool = true,
        body: (Selection) -> Data?
    ) -> Fetched? {
        guard selection.answer == .stored, (200..<300).contains(response.status),
            let shown = CacheRules.provisional(selection, of: response), let body = body(shown), !body.isEmpty
        else { return nil }
        let head = shown.head(of: response, validated: !addsAge)
        var trace = trace
        trace.describe(shown, source: shown.freshness.isFresh ? .cache : .stale)
        trace.bytesSaved = body.count
        return Fetched(
            body: body, response: ResponseHead(url: url, status: head.status, fields: head.fields),
            freshUntil: .distantPast, trace: trace)
    }
}

extension Selection {
    /// The bytes of the stored body that answer; nil if the body is too short.
    func bytes(of body: Data) -> Data? {
        switch answer {
        case .stored: return body
        case .notModified: return Data()
        case .part(_, let bytes):
            guard bytes.upperBound <= body.count else { return nil }
            return Data(body.dropFirst(bytes.lowerBound).prefix(bytes.count))
        }
    }
}

extension Selection {
    /// The same for a body that may be in a file.
    func bytes(of body: StoredBytes) -> StoredBytes? {
        switch (body, answer) {
        case (.data(let data), _): bytes(of: data).map(StoredBytes.data)
        case (.file, .notModified): .data(Data())
        case (.file, .stored): body
        case (.file(let file), .part(_, let bytes)): file.part(bytes).map(StoredBytes.file)
        }
    }
}

extension Fetched {
    /// The body, wherever it is.
    var storedBytes: StoredBytes { file.map(StoredBytes.file) ?? .data(body) }
}

extension StoredBytes {
    /// The body in memory; empty if it is in a file.
    var data: Data { if case .data(let data) = self { data } else { Data() } }
    /// The file of the body; nil if it is in memory.
    var file: BodyFile? { if case .file(let file) = self { file } else { nil } }
}

extension CacheRequest {
    /// Whether memory must not answer another request with the response: what the session adds selects it, or a cookie that the
    /// session may send with the next request, or a tracing header, which is not part of the key (RFC 9111 §4.1). Or the session
    /// adds a directive, and the cache decides about each request.
    func isBoundToSession(by head: ResponseHead, maySendCookies: Bool = true) -> Bool {
        if maySendCookies, let vary = head.value(of: FieldName.vary), !fields.contains(FieldName.cookie),
            CacheRules.names(FieldName.cookie, in: vary)
        {
            return true
        }
        if head.fields.values(of: FieldName.vary).flatMap(\.listedTokens).contains(where: CoalescingKey.isTracing) {
            return true
        }
        guard !sessionHeaders.isEmpty else { return false }
        if sessionHeaders.lines.contains(where: { CoalescingKey.bypassesMemoryCache($0.name) }) { return true }
        return CacheRules.selectingFields(of: self, for: head.fields).lines.contains { !fields.contains($0.name) }
    }
}

extension LoadTrace {
    /// Says which response was selected, and why.
    mutating func describe(_ selection: Selection, source: LoadSource) {
        self.source = source
        explain(selection.explanation)
        describe(selection.freshness)
    }

    mutating func describe(_ freshness: Freshness) {
        age = freshness.age
        lifetime = freshness.lifetime
        lifetimeRule = freshness.rule.name
    }
}

/// A stored response that is about to answer, with the objects that were made from its body. If the load needs only these
/// objects, it accepts the offer, and the body is not read.
package final class StoredOffer: Sendable {
    /// The body from which the objects were made.
    package let source: DerivedSource
    private let read: @Sendable (String) -> Data?
    private let state = Locked(false)

    package init(_ source: DerivedSource, read: @escaping @Sendable (String) -> Data?) {
        self.source = source
        self.read = read
    }

    /// An encoded object; nil if there is none. Blocks on the disk.
    package func object(_ name: String) -> Data? { read(name) }

    /// Tells the fetch not to read the body. Call it before the event's handler returns.
    package func accept() { state.withLock { $0 = true } }

    var isAccepted: Bool { state.withLock { $0 } }
}
