/// The positions of elements in their heaps. Several heaps can share one table if no element is in two of them. So the size of
/// the table depends on the number of elements, not of heaps.
struct RecordPlaces: Sendable {
    private var places: [UInt32] = []

    fileprivate subscript(id: RecordID) -> Int {
        get { id.index < places.count ? Int(places[Int(id.index)]) : 0 }
        set {
            while places.count <= id.index { places.append(0) }
            places[Int(id.index)] = UInt32(newValue)
        }
    }
}

/// A priority queue with removal and re-ranking by ID, in O(log n).
struct RecordHeap: Sendable {
    private struct Node: Sendable {
        let id: RecordID
        var rank: LoadRank
    }

    private var nodes: [Node] = []

    var isEmpty: Bool { nodes.isEmpty }
    var count: Int { nodes.count }

    /// The element with the highest rank.
    var first: RecordID? { nodes.first?.id }
    var firstRank: LoadRank? { nodes.first?.rank }

    func contains(_ id: RecordID, in places: RecordPlaces) -> Bool {
        place(of: id, in: places) != nil
    }

    /// Adds the element, or changes its rank.
    mutating func set(_ id: RecordID, rank: LoadRank, in places: inout RecordPlaces) {
        let node = Node(id: id, rank: rank)
        if let place = place(of: id, in: places) {
            nodes[place] = node
            siftDown(from: siftUp(from: place, in: &places), in: &places)
        } else {
            nodes.append(node)
            places[id] = nodes.count - 1
            siftUp(from: nodes.count - 1, in: &places)
        }
    }

    @discardableResult
    mutating func remove(_ id: RecordID, in places: inout RecordPlaces) -> Bool {
        guard let place = place(of: id, in: places) else { return false }
        let last = nodes.removeLast()
        if nodes.isEmpty, nodes.capacity > RecordIDs.kept { nodes = [] }  // after a peak
        if place < nodes.count {
            put(last, at: place, in: &places)
            siftDown(from: siftUp(from: place, in: &places), in: &places)
        }
        return true
    }

    mutating func popFirst(in places: inout RecordPlaces) -> RecordID? {
        guard let first else { return nil }
        remove(first, in: &places)
        return first
    }

    /// Nil if the recorded position belongs to another heap or to a removed element.
    private func place(of id: RecordID, in places: RecordPlaces) -> Int? {
        let place = places[id]
        return place < nodes.count && nodes[place].id == id ? place : nil
    }

    private mutating func put(_ node: Node, at place: Int, in places: inout RecordPlaces) {
        nodes[place] = node
        places[node.id] = place
    }

    @discardableResult
    private mutating func siftUp(from start: Int, in places: inout RecordPlaces) -> Int {
        var child = start
        let node = nodes[start]
        while child > 0 {
            let parent = (child - 1) / 2
            guard nodes[parent].rank < node.rank else { break }
            put(nodes[parent], at: child, in: &places)
            child = parent
        }
        if child != start { put(node, at: child, in: &places) }
        return child
    }

    private mutating func siftDown(from start: Int, in places: inout RecordPlaces) {
        var parent = start
        let node = nodes[start]
        while true {
            var largest = 2 * parent + 1
            guard largest < nodes.count else { break }
            if largest + 1 < nodes.count, nodes[largest].rank < nodes[largest + 1].rank { largest += 1 }
            guard node.rank < nodes[largest].rank else { break }
            put(nodes[largest], at: parent, in: &places)
            parent = largest
        }
        if parent != start { put(node, at: parent, in: &places) }
    }
}
