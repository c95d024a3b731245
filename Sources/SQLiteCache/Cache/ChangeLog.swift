/// The changes that are not in the database yet, in order. The database plus these changes is the state of the cache.
struct ChangeLog {
    /// nil where a later change has superseded one.
    private var changes: [Change?] = []
    /// The number of the first of `changes`. Each change has the next higher number, also after changes were removed.
    private var first = 0
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
    /// The number of changes, superseded ones included.
    var count: Int { changes.count }
    /// Whether the database may have responses that a caller has removed.
    var hasRemovals: Bool { changes.contains { $0?.isRemoval == true } }
    /// Whether a change concerns every URL.
    var hasSweeps: Bool { !sweeps.isEmpty }
    /// The number that the next change will get.
    var end: Int { first + changes.count }

    mutating func append(_ change: Change) {
        removeSuperseded(by: change)
        if case .store(let row) = change { stores[VariantKey(row)] = end }
        if case .update(let update) = change { updated.insert(update.id) }
        if let key = change.urlKey { byURL[key, default: []].append(end) } else { sweeps.append(end) }
        changes.append(change)
        addCost(of: change, sign: 1)
    }

    /// The changes that concern a URL, in order.
    func changes(for urlKey: UInt64) -> [Change] {
        if changes.isEmpty { return [] }
        let own = byURL[urlKey] ?? []
        let numbers = sweeps.isEmpty ? own : (own + sweeps).sorted()
        return numbers.compactMap { changes[$0 - first] }
    }

    /// The next changes to write: limited in number and total size, but at least one. A removal by date is written in a batch
    /// of its own, because it may take many transactions.
    func batch(maximumCount: Int, maximumBytes: Int) -> (changes: [Change], end: Int) {
        var batch: [Change] = []
        var bytes = 0
        var end = first
        for change in changes {
            if let change {
                bytes += change.cost
                if batch.count == maximumCount || (!batch.isEmpty && (bytes > maximumBytes || change.isLong)) { break }
                batch.append(change)
                if change.isLong { return (batch, end + 1) }
            }
            end += 1
        }
        return (batch, end)
    }

    /// Removes the changes before that number, which are in the database now. Returns whether a store was among them.
    mutating func removeChanges(before end: Int) -> Bool {
        let count = min(max(end - first, 0), changes.count)
        defer { first += count }
        let hasStores = changes.prefix(count).contains { $0?.isStore == true }
        for number in first..<first + count { supersede(number) }
        changes.removeFirst(count)
        return hasStores
    }

    /// Keeps only removals (`Change.isRemoval`). They get new numbers: a batch that is being written does not count as theirs.
    mutating func keepRemovals() {
        let removals = changes.compactMap { change in change?.isRemoval == true ? change : nil }
        let end = end
        self = ChangeLog()
        first = end
        for removal in removals { append(removal) }
    }

    /// Removes the pending stores, which the disk does not take, and returns them. Removals of the responses that they replace
    /// take their places.
    mutating func abandonStores() -> [StoredRow] {
        var rows: [StoredRow] = []
        for index in changes.indices {
            guard let change = changes[index], case .store(let row) = change else { continue }
            let removal = Change.removeVariant(url: row.url, urlKey: row.urlKey, variant: row.variant)
            addCost(of: change, sign: -1)
            addCost(of: removal, sign: 1)
            changes[index] = removal
            rows.append(row)
        }
        stores = [:]
        return rows
    }

    private mutating func addCost(of change: Change, sign: Int) {
        bodyBytes += sign * change.bodySize
        cost += sign * change.cost
    }

    private mutating func removeSuperseded(by change: Change) {
        switch change {
        case .store(let row):
            guard let number = stores[VariantKey(row)], case .store(let older)? = changes[number - first],
                older.url == row.url, !updated.contains(older.id)
            else { break }
            supersede(number)
        case .removeAll:
            for number in first..<end { supersede(number) }
        default: break
        }
    }

    private mutating func supersede(_ number: Int) {
        guard let change = changes[number - first] else { return }
        addCost(of: change, sign: -1)
        changes[number - first] = nil
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
