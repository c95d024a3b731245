import Foundation
import HTTPCaching
import SynchronizerSupport

/// Everything that is kept of a cached response except its body: a `StoredResponse`, and the other properties of
/// `CachedURLResponse`.
package struct StoredRecord: Sendable {
    package var response: StoredResponse
    /// The URL of the response if it differs from the requested one: after a redirect, or with a fragment.
    var responseURL: String?
    /// Set for a response of a protocol other than HTTP. Then `response` has status 0 and no fields.
    var other: OtherResponse?
    /// The property-list values of `userInfo` as a binary property list; nil if there are none.
    var userInfo: Data?

    /// The properties of a `URLResponse` besides its URL.
    struct OtherResponse: Hashable, Sendable {
        var mimeType: String?
        var textEncodingName: String?
        var expectedContentLength: Int
    }

    package init(_ response: StoredResponse) {
        self.response = response
    }
}

extension StoredResponse {
    /// Distinguishes the responses that are stored for one URL: by method and selecting fields (RFC 9111 §4.1).
    package var variantKey: UInt64 {
        var writer = ByteWriter(capacity: 64)
        writer.put(method)
        let lines = selectingFields.lines.map { ($0.name.lowercased(), $0.value) }
        for (name, value) in lines.sorted(by: { $0 < $1 }) {
            writer.put(name)
            writer.put(value)
        }
        return writer.bytes.withUnsafeBytes { Checksum64.of($0) }
    }
}

/// Why a store does not keep a response.
package enum StoreRefusal: Sendable {
    case tooLarge
    /// The disk is full, or writing to it fails for another reason.
    case diskFailed
}
