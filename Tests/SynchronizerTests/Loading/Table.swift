/// A handful of values by number, in the order in which they came: quicker than a dictionary, and the same at each run.
struct Table<Value>: Sequence {
    private var entries: [(key: Int, value: Value)] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var keys: [Int] { entries.map(\.key) }

    subscript(key: Int) -> Value? {
        get { entries.first { $0.key == key }?.value }
        _modify {
            let index = entries.firstIndex { $0.key == key }
            var value = index.map { entries[$0].value }
            yield &value
            switch (index, value) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append((key, value))
            case (nil, nil): break
            }
        }
    }

    func makeIterator() -> [(key: Int, value: Value)].Iterator { entries.makeIterator() }
}
