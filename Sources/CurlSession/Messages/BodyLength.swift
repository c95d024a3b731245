/// Decides what the field lines of a final head say about the length of its body (RFC 9112 §6.3).
enum BodyLength {
    /// The transfer codings, in the order in which the server applied them, in small letters.
    static func transferCodings(_ fields: [CurlResponseHead.Field]) -> [String] {
        fields.filter { $0.isNamed(FieldName.transferEncoding) }.flatMap { $0.value.split(separator: ",") }
            .map { trimmed($0).lowercased() }.filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }.map(start.index(after:)) ?? start.startIndex
        return start[..<end]
    }

    /// Whether a coding has a name that is a token (RFC 9110 §5.6.2), and has no parameters if it is `chunked`. Any other coding
    /// may be meant to be `chunked`, so that nothing says where the body ends.
    private static func isValid(_ coding: String) -> Bool {
        let name = trimmed(coding.prefix { $0 != ";" })
        return !name.isEmpty && name.utf8.allSatisfy(FieldLines.isToken) && (name != "chunked" || coding == name)
    }

    /// Leaves one `Content-Length` line if all have the same value, and none beside a `Transfer-Encoding`.
    static func settle(_ fields: inout [CurlResponseHead.Field]) throws(HeadError) {
        guard transferCodings(fields).allSatisfy(isValid) else { throw .invalidTransferCoding }
        guard let first = fields.firstIndex(where: { $0.isNamed(FieldName.contentLength) }) else { return }
        if fields.count(where: { FieldName.isFraming($0.name) }) == 1, isPlain(fields[first].value) { return }
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
        let digits = trimmed(text)
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(digits)
    }
}
