/// A set of numbers that mostly has one element, and then needs no memory besides.
struct FewIDs: Hashable, Sendable {
    private var first: Int?
    private var others: Set<Int> = []

    var isEmpty: Bool { first == nil }
    var count: Int { first == nil ? 0 : 1 + others.count }

    /// The elements, the smallest first.
    var all: [Int] {
        guard let first else { return [] }
        return others.isEmpty ? [first] : (others.union([first])).sorted()
    }

    mutating func insert(_ id: Int) {
        if first == nil {
            first = id
        } else if first != id {
            others.insert(id)
        }
    }

    mutating func remove(_ id: Int) {
        if first == id {
            first = others.popFirst()
        } else {
            others.remove(id)
        }
    }
}
