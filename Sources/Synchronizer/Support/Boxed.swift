/// A large value behind a reference: for a property that most records lack, or for a value that is often copied.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension Boxed: Equatable where Value: Equatable {
    static func == (one: Boxed, other: Boxed) -> Bool { one.value == other.value }
}

extension Boxed: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
