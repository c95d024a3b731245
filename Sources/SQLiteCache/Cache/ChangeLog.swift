/// The changes that are not in the database yet, in order. The database plus these changes is the state of the cache.
struct ChangeLog {
    private struct Slot {
        /// Each change has the next higher number, also after changes were removed.
        let number: Int
        /// nil if a later change has superseded it.
        var change: Change?
    }

    private var slots: [Slot] = []
    /// How many slots have no change. They go when they are more than half: one key may be stored any number of times.
    private var emptyCount = 0
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

    var isEmpty: Bool { slots.isEmpty }
    /// The number of changes. It includes superseded ones that still take memory.
    var count: Int { slots.count }
    var hasStores: Bool { !stores.isEmpty }
    /// Whether the database may have responses that a caller has removed.
    var hasRemovals: Bool { slots.contains { $0.change?.isRemoval == true } }
    /// Whether a change concerns every URL.
    var hasSweeps: Bool { !sweeps.isEmpty }

    mutating func append(_ change: Change) {
        removeSuperseded(by: change)
        if case .store(let row) = change { stores[VariantKey(row)] = end }
        if case .update(let update) = change { updated.insert(update.id) }
        if let key = change.urlKey { byURL[key, default: []].append(end) } else { sweeps.append(end) }
        slots.append(Slot(number: end, change: change))
        end += 1
        add(change, sign: 1)
        if emptyCount > max(64, slots.count / 2) {
            slots.removeAll { $0.change == nil }
            emptyCount = 0
        }
    }

    /// The changes that concern a URL, in order.
    func changes(for urlKey: UInt64) -> [Change] {
        if slots.isEmpty { return [] }
        let own = byURL[urlKey] ?? []
        let numbers = sweeps.isEmpty ? own : (own + sweeps).sorted()
        return numbers.compactMap { slots[index(of: $0)].change }
    }

    /// The place of the first slot with this or a higher number.
    private func index(of number: Int) -> Int {
        var (low, high) = (0, slots.count)
        while low < high {
            let middle = (low + high) / 2
            if slots[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The next changes to write: limited in number and total size, but at least one. A removal by date is written in a batch
    /// of its own, because it may take many transactions.
    func batch(maximumCount: Int, maximumBytes: Int) -> (changes: [Change], end: Int) {
        var batch: [Change] = []
        var bytes = 0
        for slot in slots {
            guard let change = slot.change else { continue }
            bytes += change.cost
            if batch.count == maximumCount || (!batch.isEmpty && (bytes > maximumBytes || change.isLong)) {
                return (batch, slot.number)
            }
            batch.append(change)
            if change.isLong { return (batch, slot.number + 1) }
        }
        return (batch, end)
    }

    /// Removes the changes before that number, which are in the database now. Returns whether a store was among them.
    mutating func removeChanges(before end: Int) -> Bool {
        let count = index(of: end)
        let hasStores = slots.prefix(count).contains { $0.change?.isStore == true }
        for index in 0..<count { supersede(at: index) }
        slots.removeFirst(count)
        emptyCount -= count
        return hasStores
    }

    /// Keeps only removals (`Change.isRemoval`). They get new numbers: a batch that is being written does not count as theirs.
    mutating func keepRemovals() {
        let removals = slots.compactMap { slot in slot.change?.isRemoval == true ? slot.change : nil }
        let end = end
        self = ChangeLog()
        self.end = end
        for removal in removals { append(removal) }
    }

    /// Removes the pending stores, which the disk does not take, and returns them. Removals of the responses that they replace
    /// take their places.
    mutating func abandonStores() -> [StoredRow] {
        var rows: [StoredRow] = []
        for index in slots.indices {
            guard let change = slots[index].change, case .store(let row) = change else { continue }
            let removal = Change.removeVariant(url: row.url, urlKey: row.urlKey, variant: row.variant)
            add(change, sign: -1)
            add(removal, sign: 1)
            slots[index].change = removal
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
            guard let number = stores[VariantKey(row)] else { break }
            let index = index(of: number)
            guard case .store(let older)? = slots[index].change, older.url == row.url, !updated.contains(older.id)
            else { break }
            supersede(at: index)
        case .removeAll:
            for index in slots.indices { supersede(at: index) }
        default: break
        }
    }

    private mutating func supersede(at index: Int) {
        guard let change = slots[index].change else { return }
        let number = slots[index].number
        add(change, sign: -1)
        slots[index].change = nil
        emptyCount += 1
        switch change {
        case .store(let row): if stores[VariantKey(row)] == number { stores[VariantKey(row)] = nil }
        case .update(let update): updated.remove(update.id)
        default: break
        }
        guard let key = change.urlKey else {
            sweeps.removeAll { $0 == number }
            return
        }
        // Mostly the oldest change of the URL (it was written) or the latest one (it was superseded) is removed.
        if byURL[key]?.first == number {
            byURL[key]?.removeFirst()
        } else if let place = byURL[key]?.lastIndex(of: number) {
            byURL[key]?.remove(at: place)
        }
        if byURL[key]?.isEmpty == true { byURL[key] = nil }
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
