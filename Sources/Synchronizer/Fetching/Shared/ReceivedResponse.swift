import Foundation
import HTTPCaching

/// The parts of a response that have arrived so far.
struct ReceivedResponse: Sendable {
    /// The body of a followed redirect is not shown to a caller, so no more of it than this is received.
    static let largestRedirectBody = 64 << 10

    let maximumBodySize: Int
    private(set) var head: ResponseHead?
    /// When the head arrived.
    private(set) var time = Date.distantPast
    private var received = ReceivedBody()
    /// Whether the body is larger than accepted; its bytes are dropped then.
    private(set) var isTooLarge = false

    init(maximumBodySize: Int) {
        self.maximumBodySize = maximumBodySize
    }

    var status: Int { head?.status ?? 0 }
    var fields: HTTPFields { head?.fields ?? HTTPFields() }
    var body: Data { received.data }

    mutating func receive(_ head: ResponseHead, at now: Date) {
        // A second head replaces the first, as after a challenge.
        if self.head != nil { received = ReceivedBody() }
        self.head = head
        time = now
        isTooLarge = bodyLength.map { $0 > limit } ?? false
    }

    mutating func receive(_ data: Data) {
        guard !isTooLarge else { return }
        guard data.count <= limit - received.count else { return dropBody() }
        received.append(data, of: bodyLength)
    }

    mutating func dropBody() {
        isTooLarge = true
        received = ReceivedBody()
    }

    var isRedirect: Bool { CacheRules.isRedirect(status: status, location: fields.reference(FieldName.location)) }

    private var limit: Int {
        isRedirect ? min(maximumBodySize, Self.largestRedirectBody) : maximumBodySize
    }

    /// The length of the whole body, if the response states it and it counts the decoded bytes.
    var bodyLength: Int? {
        guard !fields.contains(FieldName.transferEncoding), !isCoded else { return nil }
        return fields[FieldName.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private var isCoded: Bool {
        fields[FieldName.contentEncoding].map { !HTTPFields.same($0, "identity") } ?? false
    }

    /// Whether the body is shorter than the response states.
    func isCutShort(method: String) -> Bool {
        guard method != "HEAD", status != 204, status != 304, !isTooLarge, let length = bodyLength else { return false }
        return body.count != length
    }
}
