/// A header that binds a stored response to the requests that it may answer, for caches that look up by URL alone, as
/// `URLSession` does. It also records the injected `Cache-Control`.
///
/// It is a header of the response, so a lookup gets both together, even if another response is stored in the meantime.
package struct CacheBindingHeader: Hashable, Sendable {
    package static let fieldName = "X-Synchronizer-Stored"

    /// A digest of the request fields that select the response, credentials included.
    private let digest: String
    /// The `Cache-Control` value that the session's delegate injected.
    package let injected: String?

    /// Binds a response to requests that select it as `request` does. `fields` are its fields without this header.
    package init(_ request: CacheRequest, fields: HTTPFields, injected: String?) {
        digest = Self.digest(request, fields: fields)
        self.injected = injected
    }

    /// Reads the header from the fields of a response; nil if there is none.
    package init?(in fields: HTTPFields) {
        guard let value = fields[Self.fieldName] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard let digest = parts.first else { return nil }
        self.digest = String(digest)
        injected = parts.count > 1 ? String(parts[1]) : nil
    }

    /// The value of the field.
    package var value: String { injected.map { "\(digest) \($0)" } ?? digest }

    /// Whether the request selects the response. `fields` are its fields without this header.
    package func matches(_ request: CacheRequest, fields: HTTPFields) -> Bool {
        !ResponseFacts(fields).variesOnEverything && digest == Self.digest(request, fields: fields)
    }

    /// Separates the header from the other fields.
    package static func split(_ fields: HTTPFields) -> (header: CacheBindingHeader?, fields: HTTPFields) {
        guard let header = CacheBindingHeader(in: fields) else { return (nil, fields) }
        var fields = fields
        fields.remove(fieldName)
        return (header, fields)
    }

    /// The fields without the injected `Cache-Control`.
    package func serverFields(of fields: HTTPFields) -> HTTPFields {
        guard injected != nil, fields[FieldName.cacheControl] == injected else { return fields }
        var fields = fields
        fields.remove(FieldName.cacheControl)
        return fields
    }

    private static func digest(_ request: CacheRequest, fields: HTTPFields) -> String {
        // Includes the names of absent fields: a `Vary` that arrives later changes the digest.
        let selecting =
            CacheRules.selectingFields(of: request, for: fields).lines.map { "\($0.name.lowercased()):\($0.value)\n" }
            + ResponseFacts(fields).varyNames.map { "\($0.lowercased())\n" }
        return selecting.isEmpty ? "anyone" : SHA256.hexadecimal(Array(selecting.sorted().joined().utf8))
    }
}
