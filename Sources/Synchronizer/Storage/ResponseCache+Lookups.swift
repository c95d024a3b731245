import Foundation

extension ResponseCache {
    /// Seconds for which memory may not know what another process has stored or removed.
    fileprivate static let blindInterval: TimeInterval = 1

    /// All that is stored for a URL, newest first. The first that is wanted has its body, unless that is gone; what is
    /// older than that may be left out if nobody asks for it.
    func rows(of url: String, wanting: ((StoredRow) -> Bool)? = nil, withOlder: Bool = false) -> [StoredRow] {
        guard !Fork.isChild else { return [] }
        let urlKey = Digest.of(url)
        let (complete, before) = glance(at: url, urlKey)
        if let complete { return complete }
        let stored = readRows(of: url, urlKey, before, wanting, withOlder: withOlder)
        let rows = before.merge(stored ?? [], of: url)
        // What could not be read is no reason to believe that there is nothing.
        if before.hasMemory, stored != nil || !before.usesDisk {
            state.withLock { state in
                // Neither this process nor another one has changed anything meanwhile.
                guard state.changes[urlKey] == before.changes, state.memory.epoch == before.epoch else { return }
                state.memory.fill(rows, of: url, key: urlKey)
            }
        }
        return rows
    }

    /// What memory says: all rows, if it knows them all. It believes itself for a second after the database has said that
    /// nothing has changed.
    private func glance(at url: String, _ urlKey: UInt64) -> (complete: [StoredRow]?, before: Before) {
        let now = time.now
        let (isDue, glance) = state.withLock { state in
            (state.isDue(at: now), state.glance(at: url, urlKey))
        }
        guard isDue else { return glance }
        let hasChanged = readDisk { try $0.hasChanged() } ?? true
        return state.withLock { state in
            state.lookedAt = now
            if hasChanged { state.memory.doubtAll() }
            return state.glance(at: url, urlKey)
        }
    }

    /// What memory knew before the disk was asked.
    fileprivate struct Before {
        let known: [StoredRow]
        let waiting: [Change]
        let changes: Int
        let epoch: Int
        let usesDisk: Bool
        let hasMemory: Bool

        init(_ state: State, _ url: String, _ urlKey: UInt64) {
            known = state.memory.knownRows(of: url, key: urlKey)
            waiting = state.log.changes(for: urlKey)
            changes = state.changes[urlKey]
            epoch = state.memory.epoch
            usesDisk = state.diskCapacity > 0
            hasMemory = state.memory.capacity > 0
        }

        /// Whether the disk alone knows.
        var isSilent: Bool { waiting.isEmpty && known.isEmpty }

        /// Whether memory has the body of a response, which the same identifier always has.
        func hasBody(_ id: Int64) -> Bool {
            known.contains { $0.id == id && $0.body != nil }
        }

        func merge(_ stored: [StoredRow], of url: String) -> [StoredRow] {
            if isSilent { return stored }
            var rows = stored
            for change in changesAfter(stored) { change.apply(to: &rows, of: url) }
            for row in known {
                if row.isMemoryOnly {
                    rows.append(row)
                } else if let index = rows.firstIndex(where: { $0.id == row.id }) {
                    rows[index].body = rows[index].body ?? row.body
                    if rows[index].revision == row.revision { rows[index].cached = rows[index].cached ?? row.cached }
                }
            }
            return rows.sorted { $0.revision > $1.revision }
        }

        /// What waited and is not in these rows of the database yet. Changes are written in order, so that a row which
        /// one of them has made tells that all before it have been written, too.
        private func changesAfter(_ stored: [StoredRow]) -> ArraySlice<Change> {
            let written = waiting.lastIndex { change in
                change.revision.map { revision in stored.contains { $0.revision == revision } } ?? false
            }
            return waiting[(written.map { $0 + 1 } ?? 0)...]
        }
    }

    /// nil if the disk is not used, or there is nothing that could be read.
    private func readRows(
        of url: String, _ urlKey: UInt64, _ before: Before, _ wanting: ((StoredRow) -> Bool)?, withOlder: Bool
    ) -> [StoredRow]? {
        guard before.usesDisk else { return nil }
        let endsThere = !withOlder && !before.hasMemory && before.isSilent
        var missingBefore: Set<Int64>?
        while true {
            let answer = readDisk { connection in
                try connection.rows(
                    of: url, urlKey: urlKey, wanting: wanting, hasBody: before.hasBody, endsThere: endsThere)
            }
            guard let answer else { return nil }
            drop(answer.damaged, urlKey)
            // A body file that is gone at the first try was evicted meanwhile; at the second it is missing.
            guard let missingBefore else {
                if answer.missing.isEmpty { return answer.rows }
                missingBefore = Set(answer.missing)
                continue
            }
            drop(answer.missing.filter(missingBefore.contains), urlKey)
            return answer.rows.filter { !answer.missing.contains($0.id) }
        }
    }

    /// The body of a response; nil if it is gone, or was damaged and has been dropped.
    ///
    /// - Parameter variant: that of the response; only asked for while changes wait.
    func body(of id: Int64, url: String, variant: () -> UInt64) -> Data? {
        guard !Fork.isChild else { return nil }
        let urlKey = Digest.of(url)
        let (known, waiting, usesDisk) = state.withLock { state in
            let known = state.memory.knownRows(of: url, key: urlKey).first { $0.id == id }
            return (known, state.log.changes(for: urlKey), state.diskCapacity > 0)
        }
        if let body = known?.body { return body }
        if !waiting.isEmpty {
            // Before an update that waits it had another variant.
            let isUpdated = waiting.contains { $0.isUpdate(of: id) }
            var rows = [StoredRow.placeholder(id, url, urlKey, isUpdated ? 0 : variant())]
            for change in waiting { change.apply(to: &rows, of: url) }
            guard let row = rows.first(where: { $0.id == id }) else { return nil }
            if let body = row.body { return body }
        }
        guard usesDisk, let body = readBody(of: id, urlKey) else { return nil }
        if let known { keep(body, nil, for: known) }
        return body
    }

    private func readBody(of id: Int64, _ urlKey: UInt64) -> Data? {
        for isLastTry in [false, true] {
            switch readDisk({ try $0.body(of: id, urlKey) }) {
            case .whole(let body): return body
            case .damaged: drop([id], urlKey)
            case .missing where !isLastTry: continue
            case .missing: drop([id], urlKey)
            case .unreadable, nil, .some(nil): break
            }
            return nil
        }
        return nil
    }
}

extension ResponseCache.State {
    /// Whether it is time to ask whether another process has changed the database.
    fileprivate func isDue(at now: Date) -> Bool {
        // A clock that was set back is no reason to wait longer.
        memory.capacity > 0 && diskCapacity > 0 && abs(now.timeIntervalSince(lookedAt)) >= ResponseCache.blindInterval
    }

    fileprivate mutating func glance(
        at url: String, _ urlKey: UInt64
    ) -> (complete: [StoredRow]?, before: ResponseCache.Before) {
        (memory.completeRows(of: url, key: urlKey), ResponseCache.Before(self, url, urlKey))
    }
}
