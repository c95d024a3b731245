/// A binary heap of moments at which something is to be looked at. Pure.
///
/// Entries are never moved or removed: when one is due, its owner says what its deadline has become.
struct Deadlines<Owner> {
    private var heap: [(moment: UInt64, owner: Owner)] = []

    var isEmpty: Bool { heap.isEmpty }
    /// The earliest moment.
    var next: UInt64? { heap.first?.moment }

    mutating func insert(_ owner: Owner, at moment: UInt64) {
        heap.append((moment, owner))
        var child = heap.count - 1
        while child > 0, heap[child].moment < heap[(child - 1) / 2].moment {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes out the earliest entry if its moment has come.
    mutating func popDue(at now: UInt64) -> Owner? {
        guard let first = heap.first, first.moment <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown()
        return first.owner
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].moment < heap[least].moment { least = child }
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
