import Foundation
import SynchronizerSupport

extension WriteConnection {
    /// Writes a batch of changes after making room for it; returns how many entries were evicted.
    func write(
        _ changes: ArraySlice<Change>, budget: DiskBudget, source: some WriteSource
    ) throws -> Int {
        if case .removeSince(let moment)? = changes.first {
            if try !replaceIfMostGo(since: moment, budget: budget) { try removeAll(since: moment, budget: budget) }
            return 0
        }
        var need = DiskNeed()
        for change in changes { need.add(change, budget: budget) }
        return try change(
            needing: need, budget: budget, marking: { try markUsed(from: source, budget: budget) }
        ) {
            for change in changes {
                if try isLate(change) { source.didRefuse() } else { try apply(change, budget: budget) }
            }
        }
    }

    /// Whether the change comes too late: its fence refuses it, or the database has a response of the same variant that was
    /// requested later.
    func isLate(_ change: Change) throws(SQLiteFailure) -> Bool {
        guard let (fence, urlKey, variant) = change.fence else { return false }
        if fence.isRemoved() { return true }
        let records = try database.statement(Schema.recordsOfVariant)
        defer { records.reset() }
        records.bind([Int64(bitPattern: urlKey), Int64(bitPattern: variant)])
        while try records.step() {
            if let record = EncodedRecord(try records.bytes()), fence.yields(to: record) { return true }
        }
        return false
    }

    func markUsed(from source: some WriteSource, budget: DiskBudget) throws {
        try lowerFutureUses(at: source.now, budget: budget)
        let usageTimes = source.takeUsageTimes()
        do {
            try markUsed(usageTimes, budget: budget)
        } catch {
            source.putBack(usageTimes: usageTimes)
            throw error
        }
    }

    // MARK: - Changes, in a transaction

    func apply(_ change: Change, budget: DiskBudget) throws {
        switch change {
        case .store(let row):
            // An object is not kept longer than the body that it was made from.
            if let source = DerivedEntry.source(of: row.url), try length(of: source) == nil { break }
            if try hasCopy(row) { return try apply(RowUpdate(row)) }
            try removeVictims(
                Schema.victimsOfVariant, parameters: Int64(bitPattern: row.urlKey), Int64(bitPattern: row.variant))
            try removeVictims(Schema.victimsBeyond, parameters: Int64(bitPattern: row.urlKey))
            if let body = row.body, budget.accepts(row.record, bodySize: body.count) { try insert(row, body: body) }
        case .update(let update):
            if budget.accepts(update.record, bodySize: 0) { try apply(update) } else { try remove(update.id) }
        case .remove(let id, _): try remove(id)
        case .removeVariant(_, let urlKey, let variant):
            try removeVictims(
                Schema.victimsOfVariant, parameters: Int64(bitPattern: urlKey), Int64(bitPattern: variant))
        case .removeURL(_, let urlKey): try removeVictims(Schema.victimsOfURL, parameters: Int64(bitPattern: urlKey))
        case .removeSince, .removeAll: break  // these need transactions of their own
        }
    }

    /// Whether the database already has an entry with the row's identifier: both are copies of one entry of another level, with the
    /// same body. If the entry were removed and stored again, its new body file could be mistaken for the one to remove.
    func hasCopy(_ row: StoredRow) throws -> Bool {
        guard row.revision != row.id else { return false }  // a response of this level
        return try victims(Schema.victimsOfURL, parameters: [Int64(bitPattern: row.urlKey)]).contains {
            $0.id == row.id
        }
    }

    private func insert(_ row: StoredRow, body data: Data) throws {
        let body = StoredBody(data)
        var id = row.id
        var attempts = 0
        // Two processes hardly ever make the same identifier. If they do, the second process takes another one.
        while try !insert(row, id: id, data: data, body: body) {
            attempts += 1
            if attempts == 8 { throw SQLiteFailure.corruption("the database accepts no entries") }
            id = MonotonicID.next()
        }
        if body.isInFile {
            try writeFile(data, id: id)
        } else if body.length > StoredBody.largestInRow {
            let insertion = try database.statement(Schema.insertBody)
            insertion.bind(id, at: 0)
            try insertion.run(binding: data, at: Schema.bodyDataParameter)
        }
    }

    /// Returns false if an entry with that identifier exists.
    func insert(
        _ row: StoredRow, id: Int64, data: Data, body: StoredBody
    ) throws(SQLiteFailure) -> Bool {
        let record = row.record.bytes
        let insertion = try database.statement(Schema.insertEntry)
        let checksum = record.withUnsafeBytes {
            RowChecksum.of(
                record: $0, id: id, urlKey: row.urlKey, variant: row.variant, revision: row.revision,
                stored: row.stored, body: body)
        }
        insertion.bind([
            id, Int64(bitPattern: row.urlKey), Int64(bitPattern: row.variant), row.revision, row.stored,
            Int64(body.length), Int64(bitPattern: body.checksum), Int64(bitPattern: checksum), row.stored,
        ])
        if body.length <= StoredBody.largestInRow {
            try insertion.binding(data, at: Schema.bodyParameter) { () throws(SQLiteFailure) in
                try insertion.run(binding: record, at: Schema.recordParameter)
            }
        } else {
            try insertion.run(binding: record, at: Schema.recordParameter)
        }
        return database.changes == 1
    }

    func apply(_ update: RowUpdate) throws(SQLiteFailure) {
        let selection = try database.statement(Schema.entry)
        selection.bind(update.id, at: 0)
        let (urlKey, variant) = (Int64(bitPattern: update.urlKey), Int64(bitPattern: update.variant))
        guard try selection.step() else {
            try removeVictims(Schema.victimsOfVariant, parameters: urlKey, variant)
            return
        }
        let body = try DecodedRow(selection)?.body
        selection.reset()
        guard let body else {
            try remove(update.id)
            return
        }
        try removeVictims(Schema.victimsOfVariant, parameters: urlKey, variant, except: update.id)
        let checksum = update.record.bytes.withUnsafeBytes {
            RowChecksum.of(
                record: $0, id: update.id, urlKey: update.urlKey, variant: update.variant,
                revision: update.revision, stored: update.stored, body: body)
        }
        let change = try database.statement(Schema.updateEntry)
        change.bind([update.id, variant, update.revision, update.stored, Int64(bitPattern: checksum)])
        try change.run(binding: update.record.bytes, at: Schema.updatedRecordParameter)
    }

    // MARK: - Removals, in a transaction

    /// Removes the entries that a query for victims finds.
    func removeVictims(
        _ sql: String, parameters: Int64..., except kept: Int64? = nil
    ) throws(SQLiteFailure) {
        for victim in try victims(sql, parameters: parameters) where victim.id != kept { try remove(victim.id) }
    }

    func victims(_ sql: String, parameters: [Int64]) throws(SQLiteFailure) -> [(id: Int64, length: Int64)] {
        let selection = try database.statement(sql)
        selection.bind(parameters)
        var victims: [(id: Int64, length: Int64)] = []
        while try selection.step() {
            victims.append((selection.integer(Schema.Victim.id), selection.integer(Schema.Victim.length)))
        }
        return victims
    }

    /// Removes an entry if it exists, and the objects that were made from its body; returns the entries that it has removed, and
    /// roughly their bytes.
    @discardableResult
    func remove(_ id: Int64) throws(SQLiteFailure) -> (ids: [Int64], bytes: Int64) {
        let objects = Int64(bitPattern: Checksum64.of(DerivedEntry.url(ofObjectsFrom: id)))
        var removed = (ids: [Int64](), bytes: Int64(0))
        for entry in try victims(Schema.victimsOfURL, parameters: [objects]).map(\.id).filter({ $0 != id }) + [id] {
            guard let length = try removeAlone(entry) else { continue }
            removed.ids.append(entry)
            removed.bytes += 512 + max(0, min(length, Int64(1) << 32))
        }
        return removed
    }

    /// - Returns: the length of the body; nil if there is no such entry.
    private func removeAlone(_ id: Int64) throws(SQLiteFailure) -> Int64? {
        guard let length = try length(of: id) else { return nil }
        let fileBytes = try moveFileAway(id, length: length)
        try database.statement(Schema.deleteEntry).run(id)
        if database.changes == 0 { throw .corruption("the database does not remove an entry") }
        // The length determines where the body is. It may be corrupt, so the body's row is removed in any case.
        try database.statement(Schema.deleteBody).run(id)
        try subtract(fileBytes: fileBytes)
        return length
    }

    /// Makes the indexes match the table again, after a bit of one of them has changed. Removes the entries that the index by URL
    /// did not have: a removal may have missed them, and they must not come back. Returns whether that worked. It does not if the
    /// table is corrupt, too, or if the index by URL can't be read.
    func rebuildsIndexes() -> Bool {
        let isDone: Void? = try? transaction {
            let lost = try victims(Schema.victimsNotIndexed, parameters: [])
            try database.execute(Schema.rebuildIndexes)
            for victim in lost { try remove(victim.id) }
        }
        return isDone != nil
    }
}
