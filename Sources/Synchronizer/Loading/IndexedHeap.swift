/// A priority queue whose elements can be found again: adding, removing and re-ranking take O(log n).
struct IndexedHeap<Element: Hashable & Sendable, Rank: Comparable & Sendable>: Sendable {
    private struct Node: Sendable {
        let element: Element
        var rank: Rank
    }

    private var nodes: [Node] = []
    private var positions: [Element: Int] = [:]

    var isEmpty: Bool { nodes.isEmpty }
    var count: Int { nodes.count }

    /// The element of the highest rank.
    var first: Element? { nodes.first?.element }
    var firstRank: Rank? { nodes.first?.rank }

    func contains(_ element: Element) -> Bool { positions[element] != nil }

    /// Adds the element, or moves it to its new rank.
    mutating func set(_ element: Element, rank: Rank) {
        if let position = positions[element] {
            nodes[position].rank = rank
            siftDown(from: siftUp(from: position))
        } else {
            nodes.append(Node(element: element, rank: rank))
            positions[element] = nodes.count - 1
            siftUp(from: nodes.count - 1)
        }
    }

    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard let position = positions.removeValue(forKey: element) else { return false }
        let last = nodes.removeLast()
        if position < nodes.count {
            nodes[position] = last
            positions[last.element] = position
            siftDown(from: siftUp(from: position))
        }
        return true
    }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        remove(first)
        return first
    }

    @discardableResult
    private mutating func siftUp(from start: Int) -> Int {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard nodes[parent].rank < nodes[child].rank else { break }
            swap(parent, child)
            child = parent
        }
        return child
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var largest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < nodes.count {
                if nodes[largest].rank < nodes[child].rank { largest = child }
            }
            guard largest != parent else { return }
            swap(parent, largest)
            parent = largest
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        nodes.swapAt(one, other)
        positions[nodes[one].element] = one
        positions[nodes[other].element] = other
    }
}
