/// Reads a field value byte by byte (RFC 9110 §5.6). No method reads beyond the end, whatever the bytes are.
///
/// Methods with a loop are never inlined: they are called from everywhere, and copies of them made the module slow to
/// compile, but not faster.
struct FieldScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var position = 0
    /// Whether no closing quote follows. If one quoted string has none, then each later quote was escaped in that string, and a
    /// string that begins there has none, either.
    private var lacksClosingQuote = false

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position >= bytes.count }

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skip() {
        if position < bytes.count { position += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    @inline(never)
    mutating func skipWhitespace() {
        while let byte = next, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { position += 1 }
    }

    /// Goes to the next element of a list: skips white space, separators and empty elements (RFC 9110 §5.6.1.2).
    @inline(never)
    mutating func skipSeparators(_ separator: UInt8 = UInt8(ascii: ",")) {
        while let byte = next, byte == separator || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") {
            position += 1
        }
    }

    /// A token (RFC 9110 §5.6.2); empty if there is none here.
    @inline(never)
    mutating func token() -> Range<Int> {
        let start = position
        while let byte = next, Self.isTokenByte(byte) { position += 1 }
        return start..<position
    }

    /// The text of a quoted string (RFC 9110 §5.6.4), unescaped; nil if none begins here, or if its closing quote is missing. In
    /// the second case only the opening quote is skipped, so that no directive after it is overlooked. The end is searched in vain
    /// only once: many opening quotes would take quadratic time.
    @inline(never)
    mutating func quotedString() -> String? {
        guard take(UInt8(ascii: "\"")), !lacksClosingQuote else { return nil }
        let start = position
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next else { continue }
                text.append(escaped)
                position += 1
            default: text.append(byte)
            }
        }
        position = start
        lacksClosingQuote = true
        return nil
    }

    /// Goes to the comma that ends this element, or to the end. Returns whether anything but white space was skipped.
    mutating func skipToComma() -> Bool { skip(to: UInt8(ascii: ",")) }

    /// Goes to the separator that ends this element, or to the end; separators in quoted strings do not count.
    /// Returns whether anything but white space was skipped.
    @inline(never)
    mutating func skip(to separator: UInt8) -> Bool {
        var skippedText = false
        while let byte = next, byte != separator {
            if byte == UInt8(ascii: "\"") {
                _ = quotedString()
                skippedText = true
            } else {
                skippedText = skippedText || (byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\t"))
                position += 1
            }
        }
        return skippedText
    }

    /// Digits, as seconds; nil if there is none. A larger number than `maximumDeltaSeconds` counts as that.
    @inline(never)
    mutating func deltaSeconds() -> Double? {
        let start = position
        var value: Double = 0
        while let digit = digit() { value = min(value * 10 + Double(digit), .maximumDeltaSeconds) }
        return position > start ? value : nil
    }

    /// Digits, as a number; nil if there is none, or if it is too large.
    @inline(never)
    mutating func number() -> Int? {
        let start = position
        var value: Int? = 0
        while let digit = digit() { value = value.flatMap { Self.appending(digit, to: $0) } }
        return position > start ? value : nil
    }

    /// Exactly `count` digits; nil if there are fewer.
    mutating func number(ofDigits count: Int) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private mutating func digit() -> Int? {
        guard let byte = next, byte &- UInt8(ascii: "0") < 10 else { return nil }
        position += 1
        return Int(byte &- UInt8(ascii: "0"))
    }

    private static func appending(_ digit: Int, to value: Int) -> Int? {
        let (product, overflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, carried) = product.addingReportingOverflow(digit)
        return overflow || carried ? nil : sum
    }

    /// Whether the bytes of that range are this name, without regard to case.
    @inline(never)
    func matches(in range: Range<Int>, name: StaticString) -> Bool {
        guard range.count == name.utf8CodeUnitCount, range.upperBound <= bytes.count else { return false }
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return sameName(UnsafeBufferPointer(rebasing: bytes[range]), name)
    }

    /// Skips this text, without regard to case; returns false if the next bytes are others.
    mutating func take(_ text: StaticString) -> Bool {
        let range = position..<(position + text.utf8CodeUnitCount)
        guard matches(in: range, name: text) else { return false }
        position = range.upperBound
        return true
    }

    @inline(never)
    func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range.clamped(to: bytes.indices)]), as: UTF8.self)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "^"), UInt8(ascii: "`"),
            UInt8(ascii: "|"), UInt8(ascii: "~"):
            return true
        default: return false
        }
    }
}

extension String {
    /// Reads the string with a scanner.
    func scan<Result>(_ body: (inout FieldScanner) -> Result) -> Result {
        withBytes { bytes in
            var scanner = FieldScanner(bytes)
            return body(&scanner)
        }
    }

    /// The tokens of a list such as `Vary` (RFC 9110 §5.6.1); members that are not tokens are left out.
    package var listedTokens: [String] { tokenList.tokens }

    /// The tokens of a list, and whether all of its members are tokens.
    @inline(never)
    var tokenList: (tokens: [String], isWellFormed: Bool) {
        scan { scanner in
            var tokens: [String] = []
            var isWellFormed = true
            scanner.skipSeparators()
            while !scanner.isAtEnd {
                let token = scanner.token()
                if scanner.skipToComma() { isWellFormed = false } else { tokens.append(scanner.text(token)) }
                scanner.skipSeparators()
            }
            return (tokens, isWellFormed)
        }
    }
}

extension Double {
    /// The largest number of seconds, which means "for ever" (`delta-seconds`, RFC 9111 §1.2.2).
    package static let maximumDeltaSeconds: Double = 2_147_483_648
}
