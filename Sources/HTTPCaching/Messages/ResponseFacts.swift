/// The caching directives and validators in the fields of a response that is not stored. One pass reads the facts that every
/// decision needs. The other facts are read when a caller needs them. Stored responses have ``StoredFacts``.
struct ResponseFacts {
    private let fields: HTTPFields
    private(set) var control = CacheControl()
    private(set) var vary: [String] = []
    private(set) var hasContentCoding = false

    init(_ fields: HTTPFields) {
        self.fields = fields
        fields.forEach { add($0, value: $1) }
    }

    private mutating func add(_ name: UnsafeBufferPointer<UInt8>, value: HTTPFields.Value) {
        if sameName(name, FieldName.Bytes.vary) {
            vary.append(value.text)
        } else if sameName(name, FieldName.Bytes.cacheControl) {
            control.add(value.text)
        } else if sameName(name, FieldName.Bytes.contentEncoding) {
            hasContentCoding = hasContentCoding || !HTTPFields.same(value.text, "identity")
        }
    }

    // If a field is not a list, only its first line counts (RFC 9111 §4.2.1, §5.1).

    var lastModified: String? { fields.lastModified }
    var entityTag: String? { fields.entityTag }
    var hasExpires: Bool { fields.contains(FieldName.expires) }

    /// The date in the field; nil if there is none, or if it is invalid.
    /// - Parameter moment: see ``HTTPDate/parse(_:at:)``.
    func date(_ field: String = FieldName.date, at moment: Date) -> Date? {
        fields.first(field) { value in value.scan { HTTPDate.parse(&$0, at: moment) } } ?? nil
    }

    /// The value of `Age`, in seconds. Of a list only the first member counts. A value that is not a number is ignored.
    var age: Double? {
        fields.first(FieldName.age) { value in
            value.scan { scanner in
                scanner.skipWhitespace()
                let seconds = scanner.deltaSeconds()
                scanner.skipWhitespace()
                return scanner.isAtEnd || scanner.next == UInt8(ascii: ",") ? seconds : nil
            }
        } ?? nil
    }

    /// Whether the response must not be stored or reused (RFC 9111 §5.2.2.5). `must-understand` overrides `no-store` if the
    /// status is understood (§5.2.2.3).
    func forbidsStoring(status: Int) -> Bool {
        let understood = Self.understoodStatuses.contains(status)
        if control.contains(.mustUnderstand) { return !understood }
        return control.contains(.noStore)
    }

    /// Whether the response must be validated before each use, stale or fresh (§5.2.2.4).
    var mustBeValidated: Bool { control.contains(.noCache) }

    /// Whether the response must not be used when stale (§4.2.4).
    var mustNotBeStale: Bool { control.contains(.noCache) || control.contains(.mustRevalidate) }

    /// The final status codes that this cache understands: those of RFC 9110 and RFC 6585.
    private static let understoodStatuses: Set<Int> = [
        200, 201, 202, 203, 204, 205, 206,
        300, 301, 302, 303, 304, 305, 307, 308,
        400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426,
        428, 429, 431,
        500, 501, 502, 503, 504, 505, 511,
    ]
}

extension HTTPFields {
    // If a field is not a list, only its first line counts.

    var lastModified: String? { first(FieldName.lastModified) { $0.text } }
    var entityTag: String? { first(FieldName.entityTag) { $0.text } }
}
