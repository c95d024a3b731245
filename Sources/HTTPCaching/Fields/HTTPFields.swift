/// The field lines of a message, in order; names compare without regard to case (RFC 9110 §5).
package struct HTTPFields: Hashable, Sendable {
    package struct Line: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Stored lines, which come first. Most of them are never looked at.
    private var encoded: EncodedFields?
    private var decoded: [Line] = []

    package var lines: [Line] { encoded.map { $0.lines + decoded } ?? decoded }

    package init() {}

    /// Fields that are decoded when a caller needs them.
    package init(_ encoded: EncodedFields) {
        self.encoded = encoded
    }

    package init(_ pairs: [(String, String)]) {
        decoded = pairs.map { Line(name: $0.0, value: $0.1) }
    }

    package init(_ dictionary: [String: String]) {
        decoded = dictionary.map { Line(name: $0.key, value: $0.value) }
    }

    package var isEmpty: Bool { decoded.isEmpty && (encoded?.isEmpty ?? true) }

    /// The value of a line, which is decoded when it is asked for.
    enum Value {
        case encoded(UnsafeBufferPointer<UInt8>)
        case decoded(String)

        var text: String {
            switch self {
            case .encoded(let bytes): String(decoding: bytes, as: UTF8.self)
            case .decoded(let text): text
            }
        }
    }

    /// Passes the name and the value of each line to `body`.
    func forEach(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: Value) -> Void) {
        encoded?.forEach { body($0, .encoded($1)) }
        for line in decoded { line.name.withBytes { body($0, .decoded(line.value)) } }
    }

    private func forEach(named name: String, _ body: (Value) -> Void) {
        name.withBytes { wanted in forEach { name, value in if sameName(name, wanted) { body(value) } } }
    }

    private mutating func decode() {
        guard encoded != nil else { return }
        decoded = lines
        encoded = nil
    }

    /// The values of all lines of that name, joined as in RFC 9110 §5.2; nil if there is none.
    /// Setting replaces all lines of that name with one, or removes them.
    package subscript(name: String) -> String? {
        get {
            var combined: String?
            forEach(named: name) { value in combined = combined.map { $0 + ", " + value.text } ?? value.text }
            return combined
        }
        set {
            remove(name)
            if let newValue { add(name, newValue) }
        }
    }

    package func contains(_ name: String) -> Bool {
        var isFound = false
        forEach(named: name) { _ in isFound = true }
        return isFound
    }

    /// The value of each line of that name, in order.
    package func values(of name: String) -> [String] {
        var values: [String] = []
        forEach(named: name) { values.append($0.text) }
        return values
    }

    /// The URI reference in a field such as `Location`; nil if there is none. Equal lines count as one. Foundation may have
    /// joined them with `, `, which occurs in no reference.
    package func reference(_ name: String) -> String? {
        guard let value = self[name] else { return nil }
        let references = value.components(separatedBy: ", ")
        return references.allSatisfy { $0 == references[0] } ? references[0] : value
    }

    package mutating func reserveCapacity(_ count: Int) {
        decoded.reserveCapacity(count)
    }

    package mutating func add(_ name: String, _ value: String) {
        decoded.append(Line(name: name, value: value))
    }

    package mutating func remove(_ name: String) {
        guard contains(name) else { return }
        decode()
        decoded.removeAll { Self.same($0.name, name) }
    }

    /// Removes the lines whose names are among these.
    package mutating func remove(_ names: [String]) {
        decode()
        decoded.removeAll { line in names.contains { Self.same(line.name, $0) } }
    }

    /// Replaces all lines of each name in `newer` with those of `newer`.
    package mutating func replace(with newer: HTTPFields) {
        decode()
        decoded.removeAll { newer.contains($0.name) }
        decoded += newer.lines
    }

    /// Whether two field names are the same: ASCII, without regard to case.
    package static func same(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return one.withBytes { one in other.withBytes { other in sameName(one, other) } }
    }
}

extension HTTPFields {
    package static func == (one: HTTPFields, other: HTTPFields) -> Bool { one.lines == other.lines }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(lines)
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
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
    }
}
