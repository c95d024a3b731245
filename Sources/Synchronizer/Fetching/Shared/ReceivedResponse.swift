import Foundation
import HTTPCaching

/// The parts of a response that have arrived so far.
struct ReceivedResponse: Sendable {
    /// The body of a followed redirect is not shown to a caller, so no more of it than this is received.
    static let largestRedirectBody = 64 << 10

    /// If the body of a success goes to a file, the body of any other response is only for the error: no more of it than this is
    /// received.
    static let largestErrorBody = 1 << 20

    /// The method of the request.
    private let method: String
    private let maximumBodySize: Int
    /// Whether the body of a success goes to a file.
    private let wantsFile: Bool
    /// The bytes that went to a file.
    private var spooled = 0
    /// The size of the stored beginning that the body continues. It counts towards the limit.
    private var beginning = 0
    private(set) var head: ResponseHead?
    /// When the head arrived.
    private(set) var time = Date.distantPast
    private var received = ReceivedBody()
    /// Whether the body is larger than accepted; its bytes are dropped then.
    private(set) var isTooLarge = false

    init(method: String, maximumBodySize: Int, wantsFile: Bool = false) {
        self.method = method
        self.wantsFile = wantsFile
        self.maximumBodySize = maximumBodySize
    }

    var status: Int { head?.status ?? 0 }
    var fields: HTTPFields { head?.fields ?? HTTPFields() }
    /// The body; empty if it goes to a file.
    var body: Data { received.data }
    /// The bytes of the body so far.
    var count: Int { isSpooled ? spooled : received.count }
    /// Whether the body goes to a file.
    var isSpooled: Bool { wantsFile && (200..<300).contains(status) }

    mutating func receive(_ head: ResponseHead, at now: Date) {
        // A second head replaces the first, as after a challenge.
        if self.head != nil { (received, spooled, beginning) = (ReceivedBody(), 0, 0) }
        self.head = head
        time = now
        isTooLarge = statesTooMuch
    }

    /// Notes that the body is the rest of one whose beginning is stored.
    mutating func continues(after count: Int) {
        beginning = count
        isTooLarge = statesTooMuch
    }

    mutating func receive(_ data: Data) {
        guard !isTooLarge else { return }
        guard data.count <= limit - count else { return dropBody() }
        if isSpooled { spooled += data.count } else { received.append(data, of: bodyLength) }
    }

    mutating func dropBody() {
        isTooLarge = true
        received = ReceivedBody()
    }

    var isRedirect: Bool { CacheRules.isRedirect(status: status, location: fields.reference(FieldName.location)) }

    /// Whether the length that the response states exceeds the limit.
    private var statesTooMuch: Bool { bodyLength.map { $0 > limit } ?? false }

    private var limit: Int {
        if isRedirect { return min(maximumBodySize, Self.largestRedirectBody) }
        return wantsFile && !isSpooled ? min(maximumBodySize, Self.largestErrorBody) : maximumBodySize - beginning
    }

    /// Whether the response has no body, whatever its fields say (RFC 9110 §6.4.1): a `Content-Length` is then that of another response.
    private var isBodiless: Bool { method == "HEAD" || status == 204 || status == 304 }

    /// The length of the whole body, if the response states it and it counts the decoded bytes.
    var bodyLength: Int? {
        guard !isBodiless, !fields.contains(FieldName.transferEncoding), !isCoded else { return nil }
        return fields[FieldName.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private var isCoded: Bool {
        fields[FieldName.contentEncoding].map { !HTTPFields.same($0, "identity") } ?? false
    }

    /// Whether the body does not have the length that the response states.
    var isCutShort: Bool {
        guard !isTooLarge, let length = bodyLength else { return false }
        return count != length
    }
}
