import Foundation
import HTTPCaching

/// One step of a fetch: a request, the original one or that of a redirect, and what the cache said to it.
struct Hop: Sendable {
    let request: URLRequest
    let url: URL
    let cacheRequest: CacheRequest
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
    /// How the transfer ended; nil while it goes on.
    var end: Result<Void, any Error>?
}

/// What has arrived of an answer.
struct Reception: Sendable {
    let maximumBodySize: Int
    private(set) var response: URLResponse?
    private(set) var status = 0
    private(set) var fields = HTTPFields()
    private(set) var responseTime = Date.distantPast
    private var received = ReceivedBody()
    /// Whether the body is larger than is accepted: what is over is not kept.
    private(set) var isTooLarge = false

    init(maximumBodySize: Int) {
        self.maximumBodySize = maximumBodySize
    }

    mutating func receive(_ response: URLResponse, at moment: Date) {
        // Another one comes in place of the first, as after a challenge.
        if self.response != nil { received = ReceivedBody() }
        self.response = response
        responseTime = moment
        guard let response = response as? HTTPURLResponse else {
            status = 200
            return
        }
        status = response.statusCode
        fields = HTTPFields(of: response)
        isTooLarge = bodyLength.map { $0 > maximumBodySize } ?? false
    }

    mutating func receive(_ data: Data) {
        guard !isTooLarge else { return }
        guard data.count <= maximumBodySize - received.count else {
            isTooLarge = true
            received = ReceivedBody()
            return
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
        isMissingBytes(method: method) && !isRedirectWithoutBody
    }

    /// The session on Linux keeps the body of a redirect to itself; nobody needs it to follow the redirect.
    private var isRedirectWithoutBody: Bool { (300..<400).contains(status) && body.isEmpty }

    func isMissingBytes(method: String) -> Bool {
        guard method != "HEAD", status != 204, status != 304, !isTooLarge, let length = bodyLength else { return false }
        return body.count != length
    }
}
