/// A list that usually has one element, which takes no memory on the heap: most loads have one parse and one subscriber, and need
/// one action at a time.
struct Few<Element>: Sequence {
    private var head: Element?
    private var tail: [Element] = []

    var isEmpty: Bool { head == nil }
    var count: Int { head == nil ? 0 : 1 + tail.count }
    /// The element, if it is the only one.
    var only: Element? { tail.isEmpty ? head : nil }
    var last: Element? { tail.last ?? head }

    init() {}

    mutating func append(_ element: Element) {
        if head == nil { head = element } else { tail.append(element) }
    }

    func makeIterator() -> Iterator { Iterator(head: head, tail: tail.makeIterator()) }

    struct Iterator: IteratorProtocol {
        fileprivate var head: Element?
        fileprivate var tail: IndexingIterator<[Element]>

        mutating func next() -> Element? { head.take() ?? tail.next() }
    }
}

extension Few: Sendable where Element: Sendable {}
extension Few: Equatable where Element: Equatable {}
extension Few: Hashable where Element: Hashable {}
