/// A field line of a message, as it is sent (RFC 9110 §5).
public struct FieldLine: Hashable, Sendable {
    /// The name, spelled as it was sent.
    public var name: String
    /// The value, without the white space around it.
    public var value: String

    /// Creates a field line.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The old name.
    @available(*, deprecated, renamed: "init(name:value:)")
    public init(_ name: String, _ value: String) { self.init(name: name, value: value) }
}

extension [FieldLine] {
    /// The values of all lines of that name, joined by `, `; nil if there is none. Case does not matter.
    public subscript(name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The value of each line of that name, in order. Case does not matter.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return filter { $0.name.lowercased() == name }.map(\.value)
    }

    func contains(_ name: String) -> Bool { self[name] != nil }

    func without(_ names: String...) -> [FieldLine] {
        let names = names.map { $0.lowercased() }
        return filter { !names.contains($0.name.lowercased()) }
    }
}
