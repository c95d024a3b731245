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

    package private(set) var lines: [Line] = []

    package init() {}

    package init(_ pairs: [(String, String)]) {
        lines = pairs.map { Line(name: $0.0, value: $0.1) }
    }

    package init(_ dictionary: [String: String]) {
        lines = dictionary.map { Line(name: $0.key, value: $0.value) }
    }

    package var isEmpty: Bool { lines.isEmpty }

    /// The values of all lines of that name, joined as in RFC 9110 §5.2; nil if there is none.
    /// Setting replaces all lines of that name with one, or removes them.
    package subscript(name: String) -> String? {
        @inline(never)
        get {
            var combined: String?
            for line in lines where Self.same(line.name, name) {
                combined = combined.map { $0 + ", " + line.value } ?? line.value
            }
            return combined
        }
        set {
            remove(name)
            if let newValue { add(name, newValue) }
        }
    }

    @inline(never)
    package func contains(_ name: String) -> Bool {
        lines.contains { Self.same($0.name, name) }
    }

    /// The value of each line of that name, in order.
    @inline(never)
    package func values(of name: String) -> [String] {
        lines.filter { Self.same($0.name, name) }.map(\.value)
    }

    /// The URI reference in a field such as `Location`; nil if there is none. Equal lines count as one. Foundation may have
    /// joined them with `, `, which occurs in no reference.
    package func reference(_ name: String) -> String? {
        guard let value = self[name] else { return nil }
        let references = value.components(separatedBy: ", ")
        return references.allSatisfy { $0 == references[0] } ? references[0] : value
    }

    package mutating func reserveCapacity(_ count: Int) {
        lines.reserveCapacity(count)
    }

    package mutating func add(_ name: String, _ value: String) {
        lines.append(Line(name: name, value: value))
    }

    package mutating func remove(_ name: String) {
        removeLines { Self.same($0, name) }
    }

    /// Removes the lines whose names are among these.
    package mutating func remove(_ names: [String]) {
        removeLines { name in names.contains { Self.same(name, $0) } }
    }

    /// Replaces all lines of each name in `newer` with those of `newer`.
    package mutating func replace(with newer: HTTPFields) {
        removeLines { newer.contains($0) }
        lines += newer.lines
    }

    @inline(never)
    private mutating func removeLines(where isMeant: (String) -> Bool) {
        lines.removeAll { isMeant($0.name) }
    }

    /// Whether two field names are the same: ASCII, without regard to case.
    @inline(never)
    package static func same(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return one.withBytes { one in other.withBytes { other in sameName(one, other) } }
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
