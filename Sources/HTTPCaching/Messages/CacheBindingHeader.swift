/// What is written into a response that is stored by a cache which finds it by its URL alone, as `URLSession` does: for
/// whose requests it is, and what of its `Cache-Control` is not the server's.
///
/// It is a field of the response, so that it comes along with the answer, whatever else is stored meanwhile.
package struct StoredMark: Hashable, Sendable {
    package static let fieldName = "X-Synchronizer-Stored"

    /// A digest of the request's fields that select the response, credentials among them.
    private let binding: String
    /// The `Cache-Control` value that the session's delegate has put in.
    package let injected: String?

    /// The mark of a response with these fields, its own mark not among them.
    package init(_ request: CacheRequest, _ fields: HTTPFields, injected: String?) {
        binding = Self.binding(request, fields)
        self.injected = injected
    }

    /// The mark among the fields of a response; nil if there is none.
    package init?(in fields: HTTPFields) {
        guard let value = fields[Self.fieldName] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard let binding = parts.first else { return nil }
        self.binding = String(binding)
        injected = parts.count > 1 ? String(parts[1]) : nil
    }

    /// The value of the field.
    package var value: String { injected.map { "\(binding) \($0)" } ?? binding }

    /// Whether the response, with these fields besides the mark, may answer a request as far as the request's fields go.
    package func isFor(_ request: CacheRequest, _ fields: HTTPFields) -> Bool {
        !ResponseFacts(fields).variesOnEverything && binding == Self.binding(request, fields)
    }

    /// The fields as they are stored, and the mark that was among them.
    package static func taken(outOf fields: HTTPFields) -> (mark: StoredMark?, fields: HTTPFields) {
        guard let mark = StoredMark(in: fields) else { return (nil, fields) }
        var fields = fields
        fields.remove(fieldName)
        return (mark, fields)
    }

    /// The fields without what the delegate has put in.
    package func serverFields(of fields: HTTPFields) -> HTTPFields {
        guard injected != nil, fields["Cache-Control"] == injected else { return fields }
        var fields = fields
        fields.remove("Cache-Control")
        return fields
    }

    private static func binding(_ request: CacheRequest, _ fields: HTTPFields) -> String {
        // With the names of fields that are not there: a `Vary` that came later does not fit.
        let selecting =
            SelectingFields.of(request, for: fields).lines.map { "\($0.name.lowercased()):\($0.value)\n" }
            + ResponseFacts(fields).varyNames.map { "\($0.lowercased())\n" }
        return selecting.isEmpty ? "anyone" : SHA256.hexadecimal(Array(selecting.sorted().joined().utf8))
    }
}
