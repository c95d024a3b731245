/// A handful of values by key, in the order in which they came: quicker than a dictionary, and the same at each run.
struct Table<Key: Equatable, Value>: Sequence {
    private var entries: [(key: Key, value: Value)] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var keys: [Key] { entries.map(\.key) }

    subscript(key: Key) -> Value? {
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

    func makeIterator() -> [(key: Key, value: Value)].Iterator { entries.makeIterator() }
}
