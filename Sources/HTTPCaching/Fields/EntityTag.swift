/// An entity tag (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// With its quotes, if it has any: some servers send none, and expect to get back what they sent.
    package let opaque: String
    package let isWeak: Bool

    @inline(never)
    package init?(_ text: String) {
        let tag = text.scan { scanner -> (Bool, String)? in
            scanner.skipWhitespace()
            return Self.read(&scanner)
        }
        guard let (isWeak, opaque) = tag, !opaque.isEmpty else { return nil }
        self.init(opaque: opaque, isWeak: isWeak)
    }

    private init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Whether it is a strong validator: not marked as weak, and well-formed (RFC 9110 §8.8.1).
    package var isStrong: Bool { !isWeak && opaque.utf8.count >= 2 && opaque.utf8.first == UInt8(ascii: "\"") }

    /// RFC 9110 §8.8.3.2.
    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// RFC 9110 §8.8.3.2.
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        isStrong && other.isStrong && opaque == other.opaque
    }

    /// Whether the tag is in the list of an `If-None-Match`, by weak comparison; `*` matches any tag (RFC 9110 §13.1.2).
    package func isListed(in list: String) -> Bool {
        list.scan { scanner in
            scanner.skipSeparators()
            while !scanner.isAtEnd {
                if scanner.take("*") { return true }
                guard let (_, opaque) = Self.read(&scanner) else { return false }
                if opaque == self.opaque { return true }
                _ = scanner.skipToComma()
                scanner.skipSeparators()
            }
            return false
        }
    }

    @inline(never)
    private static func read(_ scanner: inout FieldScanner) -> (isWeak: Bool, opaque: String)? {
        let isWeak = scanner.take("W/") || scanner.take("w/")
        let start = scanner.position
        guard scanner.take(UInt8(ascii: "\"")) else {
            while let byte = scanner.next, byte != UInt8(ascii: ","), byte > UInt8(ascii: " ") { scanner.skip() }
            return start == scanner.position ? nil : (isWeak, scanner.text(start..<scanner.position))
        }
        while let byte = scanner.next, byte != UInt8(ascii: "\"") { scanner.skip() }
        guard scanner.take(UInt8(ascii: "\"")) else { return nil }
        return (isWeak, scanner.text(start..<scanner.position))
    }
}
