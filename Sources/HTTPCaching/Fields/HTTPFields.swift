/// The field lines of a message, in order; names compare without regard to case (RFC 9110 §5).
public struct HTTPFields: Hashable, Sendable, Codable {
    /// A field line.
    public struct Line: Hashable, Sendable, Codable {
        /// The name, as it was sent.
        public let name: String
        /// The value, without the white space around it.
        public let value: String

        /// Creates a line.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The lines of a stored response, which come before those in `decoded`. Most of them are never decoded.
    private var encoded: EncodedFields?
    private var decoded: [Line] = []

    /// The lines, in order.
    public var lines: [Line] { encoded.map { $0.lines + decoded } ?? decoded }

    /// Creates an empty list of lines.
    public init() {}

    /// Creates fields that are decoded when a caller needs them.
    package init(_ encoded: EncodedFields) {
        self.encoded = encoded
    }

    /// Creates a line for each pair of a name and a value.
    public init(_ pairs: [(String, String)]) {
        decoded = pairs.map { Line(name: $0.0, value: $0.1) }
    }

    /// Creates a line for each entry.
    public init(_ dictionary: [String: String]) {
        decoded = dictionary.map { Line(name: $0.key, value: $0.value) }
    }

    /// Whether there are no lines.
    public var isEmpty: Bool { decoded.isEmpty && (encoded?.isEmpty ?? true) }

    /// The value of a line. The value of a stored line is decoded only if its text is read.
    enum Value {
        case encoded(UnsafeBufferPointer<UInt8>)
        case decoded(String)

        var text: String {
            switch self {
            case .encoded(let bytes): String(decoding: bytes, as: UTF8.self)
            case .decoded(let text): text
            }
        }

        /// Reads the value with a scanner.
        func scan<Result>(_ body: (inout FieldScanner) -> Result) -> Result {
            switch self {
            case .encoded(let bytes):
                var scanner = FieldScanner(bytes)
                return body(&scanner)
            case .decoded(let text): return text.scan(body)
            }
        }
    }

    /// Passes the name and the value of each line to `body`.
    @inline(never)
    func forEach(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: Value) -> Void) {
        encoded?.forEach { body($0, .encoded($1)) }
        for line in decoded { line.name.withBytes { body($0, .decoded(line.value)) } }
    }

    private func forEach(named name: String, _ body: (Value) -> Void) {
        name.withBytes { wanted in forEach { name, value in if sameName(name, wanted) { body(value) } } }
    }

    /// The result of `read` for the first line of that name; nil if there is no such line.
    func first<Result>(_ name: String, _ read: (Value) -> Result) -> Result? {
        var result: Result?
        forEach(named: name) { if result == nil { result = read($0) } }
        return result
    }

    /// The values of all lines of that name, joined as in RFC 9110 §5.2; nil if there is none.
    /// Setting replaces all lines of that name with one, or removes them.
    public subscript(name: String) -> String? {
        @inline(never)
        get {
            var combined: String?
            forEach(named: name) { value in
                // Appends in place: a copy for each line would take quadratic time.
                if combined == nil { combined = value.text } else { combined?.append(", " + value.text) }
            }
            return combined
        }
        set {
            remove(name)
            if let newValue { add(name, value: newValue) }
        }
    }

    /// Whether there is a line of that name.
    @inline(never)
    public func contains(_ name: String) -> Bool {
        var isFound = false
        forEach(named: name) { _ in isFound = true }
        return isFound
    }

    /// The value of each line of that name, in order.
    @inline(never)
    public func values(of name: String) -> [String] {
        var values: [String] = []
        forEach(named: name) { values.append($0.text) }
        return values
    }

    /// The URI reference in a field such as `Location`; nil if there is none. Several lines count as one if they are equal, also
    /// if Foundation has joined them with `, `: no reference contains these two characters.
    package func reference(_ name: String) -> String? {
        guard let value = self[name] else { return nil }
        let references = value.components(separatedBy: ", ")
        return references.allSatisfy { $0 == references[0] } ? references[0] : value
    }

    package mutating func reserveCapacity(_ count: Int) {
        decoded.reserveCapacity(count)
    }

    /// Adds a line at the end.
    public mutating func add(_ name: String, value: String) {
        decoded.append(Line(name: name, value: value))
    }

    /// The old name.
    @available(*, deprecated, renamed: "add(_:value:)")
    public mutating func add(_ name: String, _ value: String) { add(name, value: value) }

    /// Removes all lines of that name.
    public mutating func remove(_ name: String) {
        if contains(name) { removeLines { Self.same($0, name) } }
    }

    /// Removes all lines of these names.
    package mutating func remove(_ names: [String]) {
        let names = Set(names.map(FoldedName.init))
        removeLines { names.contains(FoldedName($0)) }
    }

    /// Replaces all lines of each name in `newer` with those of `newer`.
    public mutating func replace(with newer: HTTPFields) {
        let replacement = newer.lines
        let names = Set(replacement.map { FoldedName($0.name) })
        removeLines { names.contains(FoldedName($0)) }
        decoded += replacement
    }

    @inline(never)
    private mutating func removeLines(where isMeant: (String) -> Bool) {
        (encoded, decoded) = (nil, lines.filter { !isMeant($0.name) })
    }

    /// Whether two field names are the same: ASCII, without regard to case.
    @inline(never)
    package static func same(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return one.withBytes { one in other.withBytes { other in sameName(one, other) } }
    }
}

extension HTTPFields {
    /// Whether all lines are the same, in the same order.
    public static func == (one: HTTPFields, other: HTTPFields) -> Bool { one.lines == other.lines }

    /// Hashes the lines.
    public func hash(into hasher: inout Hasher) { hasher.combine(lines) }

    private enum CodingKeys: CodingKey {
        case lines
    }

    /// Decodes the lines.
    public init(from decoder: any Decoder) throws {
        decoded = try decoder.container(keyedBy: CodingKeys.self).decode([Line].self, forKey: .lines)
    }

    /// Encodes the lines.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lines, forKey: .lines)
    }
}

/// A field name as a member of a set: ASCII, without regard to case. Servers choose how many names there are, so code that compares
/// each name of a message with each name of another takes quadratic time.
struct FoldedName: Hashable {
    private let name: String

    init(_ name: String) {
        self.name = name
    }

    static func == (one: FoldedName, other: FoldedName) -> Bool { HTTPFields.same(one.name, other.name) }

    func hash(into hasher: inout Hasher) {
        name.withBytes { for byte in $0 { hasher.combine(lowercased(byte)) } }
    }
}

/// Whether two names are the same without regard to the case of ASCII letters.
func sameName(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard one.count == other.count else { return false }
    for index in one.indices where one[index] != other[index] {
        guard lowercased(one[index]) == lowercased(other[index]) else { return false }
    }
    return true
}

func sameName(_ name: UnsafeBufferPointer<UInt8>, _ known: StaticString) -> Bool {
    sameName(name, UnsafeBufferPointer(start: known.utf8Start, count: known.utf8CodeUnitCount))
}

func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
}

extension String {
    /// Calls `body` with the UTF-8 of the string, without a copy if possible.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var string = self
        return string.withUTF8(body)
    }
}
