/// The changes that are not in the database yet, in order. What the database says and then these is what is stored.
struct ChangeLog {
    /// nil where a later change has made one pointless.
    private var changes: [Change?] = []
    /// The number of the first of `changes`; numbers only grow.
    private var first = 0
    private var byURL: [UInt64: [Int]] = [:]
    /// Those that concern every URL.
    private var sweeps: [Int] = []
    private(set) var bodyBytes = 0
    /// What the changes take in memory, in bytes, about.
    private(set) var cost = 0

    var isEmpty: Bool { changes.isEmpty }
    /// Those that have become pointless included.
    var count: Int { changes.count }
    /// Whether responses that somebody wanted gone may be in the database.
    var hasRemovals: Bool { changes.contains { $0?.isRemoval == true } }
    /// The number that the next change will have.
    var end: Int { first + changes.count }

    mutating func append(_ change: Change) {
        dropWhatIsPointless(after: change)
        if let key = change.urlKey { byURL[key, default: []].append(end) } else { sweeps.append(end) }
        changes.append(change)
        weigh(change, 1)
    }

    /// The changes that concern a URL, in order.
    func changes(for urlKey: UInt64) -> [Change] {
        if changes.isEmpty { return [] }
        let own = byURL[urlKey] ?? []
        let numbers = sweeps.isEmpty ? own : (own + sweeps).sorted()
        return numbers.compactMap { changes[$0 - first] }
    }

    /// The next changes to be written: a limited number, of a limited total size but at least one. What removes by date
    /// is by itself: it may take many transactions.
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

    /// Forgets all before that number: they are in the database.
    mutating func removeChanges(before end: Int) {
        let count = min(max(end - first, 0), changes.count)
        for number in first..<first + count {
            guard let change = changes[number - first] else { continue }
            weigh(change, -1)
            forgetNumber(number, of: change)
        }
        changes.removeFirst(count)
        first += count
    }

    /// Forgets the responses that wait, where the disk does not take them, and returns them. What they would have
    /// replaced still goes.
    mutating func giveUpStores() -> [StoredRow] {
        var rows: [StoredRow] = []
        for index in changes.indices {
            guard let change = changes[index], case .store(let row) = change else { continue }
            let removal = Change.removeVariant(url: row.url, urlKey: row.urlKey, variant: row.variant)
            weigh(change, -1)
            weigh(removal, 1)
            changes[index] = removal
            rows.append(row)
        }
        return rows
    }

    private mutating func weigh(_ change: Change, _ sign: Int) {
        bodyBytes += sign * change.bodySize
        cost += sign * change.cost
    }

    private mutating func dropWhatIsPointless(after change: Change) {
        switch change {
        case .store(let row):
            for number in byURL[row.urlKey] ?? [] {
                guard case .store(let older)? = changes[number - first], older.variant == row.variant,
                    older.url == row.url, !isUpdated(older)
                else { continue }
                drop(number)
            }
        case .removeAll:
            for number in first..<end { drop(number) }
        default: break
        }
    }

    /// Whether an update waits, too: it may have made another variant of it.
    private func isUpdated(_ row: StoredRow) -> Bool {
        (byURL[row.urlKey] ?? []).contains { changes[$0 - first]?.isUpdate(of: row.id) == true }
    }

    private mutating func drop(_ number: Int) {
        guard let change = changes[number - first] else { return }
        weigh(change, -1)
        forgetNumber(number, of: change)
        changes[number - first] = nil
    }

    private mutating func forgetNumber(_ number: Int, of change: Change) {
        guard let key = change.urlKey else {
            sweeps.removeAll { $0 == number }
            return
        }
        byURL[key]?.removeAll { $0 == number }
        if byURL[key]?.isEmpty == true { byURL[key] = nil }
    }
}
