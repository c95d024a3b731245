import Foundation
import HTTPCaching

/// One step of a fetch: a request, the original one or that of a redirect, and what the cache said to it.
struct Hop: Sendable {
    let request: URLRequest
    let url: URL
    var cacheRequest: CacheRequest
    /// What was stored for the URI when it was looked up.
    var entries: [StoredEntry]
    var verdict: Verdict
    var trace: LoadTrace

    var candidates: [Candidate] { entries.map(\.candidate) }

    /// For the way over the network: very many may wait, and what is stored may be another body by then.
    func withoutBodies() -> Hop {
        var hop = self
        hop.entries = entries.map(\.withoutBody)
        return hop
    }
}

extension StoredEntry {
    var candidate: Candidate { Candidate(response, bodySize: bodySize) }
}

/// A hop that is under way on the network.
struct Exchange: Sendable {
    var hop: Hop
    let requestTime: Date
    /// When it was sent, as the log of invalidations counts.
    var mark: InvalidationLog.Mark
    var reception: Reception
    /// Known once `send` has returned; a transfer can be over before.
    var transfer: (any Transfer)?
    /// How the network did; nil where the session does not tell.
    var network: NetworkTrace?
    /// How the transfer ended; nil while it goes on.
    var end: Result<Void, any Error>?

    /// Notes the end of the transfer. A redirect is followed although its body was cut short; it is not stored then.
    mutating func note(_ end: Result<Void, any Error>) {
        var isCutShort = reception.isCutShort(method: hop.cacheRequest.method)
        if case .failure = end { isCutShort = true }
        guard isCutShort, reception.isRedirect else { return self.end = end }
        reception.dropBody()
        self.end = .success(())
    }

    /// Notes that the session sent a credential that the request itself does not show: the response is for requests that
    /// carry the same (RFC 9111 §3.5).
    mutating func authorize(_ credential: String) {
        hop.cacheRequest.impliedFields["Authorization"] = credential
    }
}

/// What has arrived of an answer.
struct Reception: Sendable {
    /// The body of a redirect is shown to no caller: more of it than this is not waited for.
    static let largestRedirectBody = 64 << 10

    let maximumBodySize: Int
    private(set) var head: ResponseHead?
    private(set) var responseTime = Date.distantPast
    private var received = ReceivedBody()
    /// Whether the body is larger than is accepted: what is over is not kept.
    private(set) var isTooLarge = false

    init(maximumBodySize: Int) {
        self.maximumBodySize = maximumBodySize
    }

    var status: Int { head?.status ?? 0 }
    var fields: HTTPFields { head?.fields ?? HTTPFields() }

    mutating func receive(_ head: ResponseHead, at moment: Date) {
        // Another one comes in place of the first, as after a challenge.
        if self.head != nil { received = ReceivedBody() }
        self.head = head
        responseTime = moment
        isTooLarge = bodyLength.map { $0 > limit } ?? false
    }

    var isRedirect: Bool { Redirect.leads(status, fields.reference("Location")) }

    mutating func dropBody() {
        isTooLarge = true
        received = ReceivedBody()
    }

    private var limit: Int {
        isRedirect ? min(maximumBodySize, Self.largestRedirectBody) : maximumBodySize
    }

    mutating func receive(_ data: Data) {
        guard !isTooLarge else { return }
        guard data.count <= limit - received.count else {
            return dropBody()
        }
        received.append(data, of: bodyLength)
    }

    var body: Data { received.data }

    /// The length that the body must have, where the answer says so and the bytes are counted as they are sent.
    var bodyLength: Int? {
        guard !fields.contains("Transfer-Encoding"), !isCoded else { return nil }
        return fields["Content-Length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private var isCoded: Bool {
        fields["Content-Encoding"].map { !HTTPFields.same($0, "identity") } ?? false
    }

    /// Whether bytes are missing that the answer has promised.
    func isCutShort(method: String) -> Bool {
        guard method != "HEAD", status != 204, status != 304, !isTooLarge, let length = bodyLength else { return false }
        return body.count != length
    }
}
