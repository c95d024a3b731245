/// Decides what the field lines of a final head say about the length of its body (RFC 9112 §6.3).
enum BodyLength {
    /// Whether a field says where the body ends.
    static func isFraming(_ name: String) -> Bool {
        name.isFieldName(FieldName.contentLength) || name.isFieldName(FieldName.transferEncoding)
    }

    /// Leaves one `Content-Length` line if all have the same value, and none beside a `Transfer-Encoding`.
    static func settle(_ fields: inout [CurlResponseHead.Field]) throws(HeadError) {
        guard let first = fields.firstIndex(where: { $0.isNamed(FieldName.contentLength) }) else { return }
        if fields.count(where: { isFraming($0.name) }) == 1, isPlain(fields[first].value) { return }
        var length: Int64?
        for field in fields[first...] where field.isNamed(FieldName.contentLength) {
            for part in field.value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let value = number(part), length == nil || length == value else { throw .invalidBodyLength }
                length = value
            }
        }
        let isChunked = fields.contains { $0.isNamed(FieldName.transferEncoding) }
        let name = fields[first].name
        fields.removeAll { $0.isNamed(FieldName.contentLength) }
        if let length, !isChunked { fields.insert(.init(name: name, value: String(length)), at: first) }
    }

    /// Whether a value, like most, is a length that need not be rewritten: up to 18 digits, without leading zeros.
    private static func isPlain(_ value: String) -> Bool {
        (1...18).contains(value.utf8.count) && (value.utf8.first != 48 || value.utf8.count == 1)
            && value.utf8.allSatisfy { (48...57).contains($0) }
    }

    /// A length: digits only, at most 2^63 - 1.
    private static func number(_ text: Substring) -> Int64? {
        let digits = text.drop { $0 == " " || $0 == "\t" }
        let end = digits.lastIndex { $0 != " " && $0 != "\t" }.map(digits.index(after:)) ?? digits.startIndex
        guard digits[..<end].utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(digits[..<end])
    }
}
