/// What memory knew of a URL before a lookup asked the database: its rows, and the pending changes.
struct PendingSnapshot {
    let known: [StoredRow]
    let pending: [Change]
    /// The number of changes of the URL (``ChangeCounts``), and ``MemoryLayer/epoch``.
    let changeCount: Int
    let epoch: Int
    let usesDisk: Bool
    let hasMemory: Bool

    /// Whether only the database may know anything of the URL.
    var isEmpty: Bool { pending.isEmpty && known.isEmpty }

    /// Whether memory has the body of a response. An identifier always stands for the same body.
    func hasBody(_ id: Int64) -> Bool {
        known.contains { $0.id == id && $0.body != nil }
    }

    /// Adds to the rows of the database what only memory knows.
    func merge(_ stored: [StoredRow], of url: String) -> [StoredRow] {
        if isEmpty { return stored }
        var rows = stored
        for change in changes(after: stored) { change.apply(to: &rows, of: url) }
        for row in known {
            // A store that was given up while it was being written is in the database, too.
            if let index = rows.firstIndex(where: { $0.id == row.id }) {
                rows[index].body = rows[index].body ?? row.body
                if rows[index].revision == row.revision { rows[index].cached = rows[index].cached ?? row.cached }
            } else if row.isMemoryOnly {
                rows.append(row)
            }
        }
        return rows.sorted { $0.revision > $1.revision }
    }

    /// The pending changes that these rows of the database do not reflect yet. Changes are written in order: if the database
    /// has the row of one change, all changes before it have been written, too.
    private func changes(after stored: [StoredRow]) -> ArraySlice<Change> {
        let written = pending.lastIndex { change in
            change.revision.map { revision in stored.contains { $0.revision == revision } } ?? false
        }
        return pending[(written.map { $0 + 1 } ?? 0)...]
    }
}
