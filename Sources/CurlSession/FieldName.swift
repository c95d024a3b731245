/// The names of the fields that a session reads and writes, as they are sent.
enum FieldName {
    static let acceptEncoding = "Accept-Encoding"
    static let authorization = "Authorization"
    static let contentEncoding = "Content-Encoding"
    static let contentLanguage = "Content-Language"
    static let contentLength = "Content-Length"
    static let contentLocation = "Content-Location"
    static let contentType = "Content-Type"
    static let cookie = "Cookie"
    static let expect = "Expect"
    static let host = "Host"
    static let location = "Location"
    static let proxyAuthenticate = "Proxy-Authenticate"
    static let proxyAuthorization = "Proxy-Authorization"
    static let range = "Range"
    static let setCookie = "Set-Cookie"
    static let transferEncoding = "Transfer-Encoding"
    static let userAgent = "User-Agent"
    static let wwwAuthenticate = "WWW-Authenticate"

    /// Whether a field says where the body ends.
    static func isFraming(_ name: String) -> Bool {
        name.isFieldName(contentLength) || name.isFieldName(transferEncoding)
    }
}

extension CurlResponseHead.Field {
    /// Whether the field has that name. Case does not matter.
    func isNamed(_ name: String) -> Bool { self.name.isFieldName(name) }
}

extension String {
    /// Whether this string and `name` are the same field name. Case does not matter.
    @inline(never)
    func isFieldName(_ name: String) -> Bool {
        // Most names differ in length. The others are compared in place, because an iterator over both was slow in profiles.
        guard utf8.count == name.utf8.count else { return false }
        return withUTF8Bytes { one in name.withUTF8Bytes { other in Self.isSame(one, other) } }
    }

    private static func isSame(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in one.indices where one[index] != other[index] {
            guard one[index] ^ other[index] == 0x20, (97...122).contains(one[index] | 0x20) else { return false }
        }
        return true
    }

    private func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var string = self
        return string.withUTF8(body)
    }
}
