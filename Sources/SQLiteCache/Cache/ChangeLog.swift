/// The changes that are not in the database yet, in order. The database plus these changes is the state of the cache.
struct ChangeLog {
    /// nil where a later change has superseded one.
    private var changes: [Change?] = []
    /// The number of the first of `changes`. Numbers only grow.
    private var first = 0
    private var byURL: [UInt64: [Int]] = [:]
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
    /// The number that the next change will get.
    var end: Int { first + changes.count }

    mutating func append(_ change: Change) {
        removeSuperseded(by: change)
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

    /// The next changes to write: limited in number and total size, but at least one. A removal by date is a batch of
    /// its own, because it may take many transactions.
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

    /// Removes the pending stores, which the disk does not take, and returns them. What they replace is still removed.
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
        return rows
    }

    private mutating func addCost(of change: Change, sign: Int) {
        bodyBytes += sign * change.bodySize
        cost += sign * change.cost
    }

    private mutating func removeSuperseded(by change: Change) {
        switch change {
        case .store(let row):
            for number in byURL[row.urlKey] ?? [] {
                guard case .store(let older)? = changes[number - first], older.variant == row.variant,
                    older.url == row.url, !isUpdated(older)
                else { continue }
                supersede(number)
            }
        case .removeAll:
            for number in first..<end { supersede(number) }
        default: break
        }
    }

    /// Whether an update is pending, too: it may have changed the variant.
    private func isUpdated(_ row: StoredRow) -> Bool {
        (byURL[row.urlKey] ?? []).contains { changes[$0 - first]?.isUpdate(of: row.id) == true }
    }

    private mutating func supersede(_ number: Int) {
        guard let change = changes[number - first] else { return }
        addCost(of: change, sign: -1)
        changes[number - first] = nil
        guard let key = change.urlKey else {
            sweeps.removeAll { $0 == number }
            return
        }
        byURL[key]?.removeAll { $0 == number }
        if byURL[key]?.isEmpty == true { byURL[key] = nil }
    }
}

/// Counts changes by URL. A lookup that began before a change must not populate memory after it.
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
