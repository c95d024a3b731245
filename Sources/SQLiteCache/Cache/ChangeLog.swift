/// The changes that are not in the database yet, in order. The database plus these changes is the state of the cache.
struct ChangeLog {
    /// The changes by their numbers. Each has the next higher number. A number is not used again after its change was removed.
    private var changes: [Int: Change] = [:]
    /// The number of the first change; the next number if there is none.
    private var first = 0
    /// The number that the next change will get.
    private(set) var end = 0
    private var byURL: [UInt64: [Int]] = [:]
    /// The number of the latest store of each variant, by which a store quickly finds the pending store that it supersedes.
    private var stores: [VariantKey: Int] = [:]
    /// The entries for which an update is pending. The update may have changed the variant.
    private var updated: Set<Int64> = []
    /// The numbers of the changes that concern every URL.
    private var sweeps: [Int] = []
    private(set) var bodyBytes = 0
    /// Roughly the memory that the changes take, in bytes.
    private(set) var cost = 0

    var isEmpty: Bool { changes.isEmpty }
    var count: Int { changes.count }
    var hasStores: Bool { !stores.isEmpty }
    /// Whether the database may have responses that a caller has removed.
    var hasRemovals: Bool { changes.values.contains(where: \.isRemoval) }
    /// Whether a change concerns every URL.
    var hasSweeps: Bool { !sweeps.isEmpty }

    /// All changes, in order.
    private var ordered: some Sequence<(number: Int, change: Change)> {
        (first..<end).lazy.compactMap { number in changes[number].map { (number, $0) } }
    }

    mutating func append(_ change: Change) {
        removeSuperseded(by: change)
        if case .store(let row) = change { stores[VariantKey(row)] = end }
        if case .update(let update) = change { updated.insert(update.id) }
        if let key = change.urlKey { byURL[key, default: []].append(end) } else { sweeps.append(end) }
        changes[end] = change
        end += 1
        add(change, sign: 1)
    }

    /// The changes that concern a URL, in order.
    func changes(for urlKey: UInt64) -> [Change] {
        if isEmpty { return [] }
        let own = byURL[urlKey] ?? []
        let numbers = sweeps.isEmpty ? own : (own + sweeps).sorted()
        return numbers.compactMap { changes[$0] }
    }

    /// The next changes to write: limited in number and total size, but at least one. A removal by date is written in a batch
    /// of its own, because it may take many transactions.
    func batch(maximumCount: Int, maximumBytes: Int) -> (changes: [Change], end: Int) {
        var batch: [Change] = []
        var bytes = 0
        for (number, change) in ordered {
            bytes += change.cost
            if batch.count == maximumCount || (!batch.isEmpty && (bytes > maximumBytes || change.isLong)) {
                return (batch, number)
            }
            batch.append(change)
            if change.isLong { return (batch, number + 1) }
        }
        return (batch, end)
    }

    /// Removes the changes before that number, which are in the database now. Returns whether a store was among them.
    mutating func removeChanges(before end: Int) -> Bool {
        var hasStores = false
        while first < end { if remove(first)?.isStore == true { hasStores = true } }
        return hasStores
    }

    /// Keeps only removals (`Change.isRemoval`). They get new numbers: a batch that is being written does not count as theirs.
    mutating func keepRemovals() {
        let removals = ordered.map(\.change).filter(\.isRemoval)
        removeAll()
        for removal in removals { append(removal) }
    }

    /// Removes the pending stores, which the disk does not take, and returns them. Removals of the responses that they replace
    /// take their places.
    mutating func abandonStores() -> [StoredRow] {
        var rows: [StoredRow] = []
        for (number, change) in Array(ordered) {
            guard case .store(let row) = change else { continue }
            let removal = Change.removeVariant(url: row.url, urlKey: row.urlKey, variant: row.variant)
            add(change, sign: -1)
            add(removal, sign: 1)
            changes[number] = removal
            rows.append(row)
        }
        stores = [:]
        return rows
    }

    /// Adds a change to the sums, or subtracts it.
    private mutating func add(_ change: Change, sign: Int) {
        bodyBytes += sign * change.bodySize
        cost += sign * change.cost
    }

    private mutating func removeSuperseded(by change: Change) {
        switch change {
        case .store(let row):
            guard let number = stores[VariantKey(row)], case .store(let older)? = changes[number],
                older.url == row.url, !updated.contains(older.id)
            else { break }
            remove(number)
        case .removeAll: removeAll()
        default: break
        }
    }

    private mutating func removeAll() {
        let end = end
        self = ChangeLog()
        (first, self.end) = (end, end)
    }

    @discardableResult
    private mutating func remove(_ number: Int) -> Change? {
        guard let change = changes.removeValue(forKey: number) else { return nil }
        // Otherwise each batch would begin with the numbers of changes that were superseded.
        while first < end, changes[first] == nil { first += 1 }
        add(change, sign: -1)
        switch change {
        case .store(let row): if stores[VariantKey(row)] == number { stores[VariantKey(row)] = nil }
        case .update(let update): updated.remove(update.id)
        default: break
        }
        guard let key = change.urlKey else {
            sweeps.removeAll { $0 == number }
            return change
        }
        byURL[key]?.removeAll { $0 == number }
        if byURL[key]?.isEmpty == true { byURL[key] = nil }
        return change
    }
}

private struct VariantKey: Hashable {
    let urlKey: UInt64
    let variant: UInt64

    init(_ row: StoredRow) {
        (urlKey, variant) = (row.urlKey, row.variant)
    }
}

/// Counts changes by URL: a lookup must not populate memory if its URL was changed since the lookup began.
struct ChangeCounts {
    private var counts = [Int](repeating: 0, count: 1024)

    /// Grows with each change that may concern the URL.
    subscript(urlKey: UInt64) -> Int { counts[Int(urlKey % 1024)] }

    /// - Parameter urlKey: the URL that was changed; nil for all.
    mutating func count(_ urlKey: UInt64?) {
        if let urlKey {
            counts[Int(urlKey % 1024)] += 1
        } else {
            for index in counts.indices { counts[index] += 1 }
        }
    }
}
