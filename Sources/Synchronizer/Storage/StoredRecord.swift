import Foundation
import HTTPCaching

/// All that is kept of a cached response but its body: for HTTP what `StoredResponse` holds, and what else
/// `CachedURLResponse` has.
struct StoredRecord: Sendable {
    var response: StoredResponse
    /// Where the response came from, if that is not what was asked for (after a redirect, or with a fragment).
    var responseURL: String?
    /// Set for a response that is not HTTP's; then `response` has status 0 and no fields.
    var other: OtherResponse?
    /// The property-list values of `userInfo`, as a binary property list; nil if there are none.
    var userInfo: Data?

    /// What a `URLResponse` has beside its URL.
    struct OtherResponse: Hashable, Sendable {
        var mimeType: String?
        var textEncodingName: String?
        var expectedContentLength: Int
    }

    init(_ response: StoredResponse) {
        self.response = response
    }
}

extension StoredResponse {
    /// What tells the responses that are stored for one URL apart: the method and the selecting fields (RFC 9111 §4.1).
    var variantKey: UInt64 {
        var writer = ByteWriter(capacity: 64)
        writer.put(method)
        let lines = selectingFields.lines.map { ($0.name.lowercased(), $0.value) }
        for (name, value) in lines.sorted(by: { $0 < $1 }) {
            writer.put(name)
            writer.put(value)
        }
        return writer.bytes.withUnsafeBytes { Digest.of($0) }
    }
}
