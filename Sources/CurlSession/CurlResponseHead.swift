import Foundation

/// The head of a response as the server sent it: no `HTTPURLResponse`, which takes 8 to 40 µs to create on Linux.
public struct CurlResponseHead: Sendable, Hashable {
    /// A field line of a head. The name is in the case that the server sent.
    public struct Field: Sendable, Hashable {
        /// The name, in the case that the server sent.
        public var name: String
        /// The value without surrounding whitespace: decoded as UTF-8, or as Latin-1 where it is not valid UTF-8.
        public var value: String

        /// Creates a field line.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The URL of the last request: after redirects, the final target.
    public var url: URL
    /// The protocol version, such as `HTTP/1.1` or `HTTP/2`.
    public var version: String
    /// The status code.
    public var status: Int
    /// The field lines in the order in which the server sent them. Repeated lines are kept.
    public var fields: [Field]

    /// Creates a head.
    public init(url: URL, version: String, status: Int, fields: [Field]) {
        self.url = url
        self.version = version
        self.status = status
        self.fields = fields
    }
}

extension CurlResponseHead.Field {
    /// Whether this is the field of that name, given in lower case.
    func isNamed(_ lowercased: String) -> Bool { name.isFieldName(lowercased) }
}

extension String {
    /// Whether this is the name of that field, given in lower case.
    @inline(never)
    func isFieldName(_ lowercased: String) -> Bool {
        // Most names differ in length; the rest is compared in place. An iterator over both showed in profiles.
        guard utf8.count == lowercased.utf8.count else { return false }
        return withUTF8Bytes { one in lowercased.withUTF8Bytes { other in Self.isSame(one, other) } }
    }

    private static func isSame(_ one: UnsafeBufferPointer<UInt8>, _ lowercased: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in one.indices where one[index] != lowercased[index] {
            guard (65...90).contains(one[index]), one[index] | 0x20 == lowercased[index] else { return false }
        }
        return true
    }

    private func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var string = self
        return string.withUTF8(body)
    }
}
