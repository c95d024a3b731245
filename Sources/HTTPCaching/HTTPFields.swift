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

    package var isEmpty: Bool { lines.isEmpty }

    /// The value of all lines of that name, joined as RFC 9110 §5.2 says; nil if there is none.
    /// Setting replaces all lines of that name by one, or by none.
    package subscript(name: String) -> String? {
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

    /// The value of each line of that name, in order.
    package func values(of name: String) -> [String] {
        lines.filter { Self.same($0.name, name) }.map(\.value)
    }

    package mutating func add(_ name: String, _ value: String) {
        lines.append(Line(name: name, value: value))
    }

    package mutating func remove(_ name: String) {
        lines.removeAll { Self.same($0.name, name) }
    }

    /// Whether two field names are the same: ASCII, without regard to case.
    package static func same(_ one: String, _ other: String) -> Bool {
        let (one, other) = (one.utf8, other.utf8)
        return one.count == other.count && zip(one, other).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
