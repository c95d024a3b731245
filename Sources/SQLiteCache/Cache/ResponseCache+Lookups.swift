import Foundation
import SynchronizerSupport

extension ResponseCache {
    /// Seconds for which memory is used without asking the database for changes by other processes.
    fileprivate static let memoryTrustInterval: TimeInterval = 1

    /// All responses that are stored for a URL, newest first.
    ///
    /// - Parameters:
    ///   - urlKey: the checksum of the URL, if it is known.
    ///   - now: the time, if the caller has read the clock.
    ///   - wanting: the first row that this closure accepts comes with its body, unless the body is gone.
    ///   - withOlder: whether the rows after this first row are needed.
    func rows(
        of url: String, urlKey: UInt64? = nil, at now: Date? = nil, wanting: ((StoredRow) -> Bool)? = nil,
        withOlder: Bool = false
    ) -> [StoredRow] {
        guard !ForkedProcess.isCurrent else { return [] }
        let urlKey = urlKey ?? Checksum64.of(url)
        let (complete, snapshot) = peek(at: url, urlKey: urlKey, now: now ?? time.now)
        let isRemoved = { self.isRemovedElsewhere($0, usesDisk: snapshot.usesDisk) }
        if let complete, !complete.contains(where: isRemoved) { return complete }
        let stored = readRows(of: url, urlKey: urlKey, snapshot: snapshot, wanting: wanting, withOlder: withOlder)
        var rows = snapshot.merge(stored ?? [], of: url)
        // Hardly ever, and the removal allocates an array.
        if rows.contains(where: isRemoved) { rows.removeAll(where: isRemoved) }
        // A failed read does not mean that there are no rows.
        if snapshot.hasMemory, stored != nil || !snapshot.usesDisk {
            state.withLock { state in
                guard state.isUnchanged(since: snapshot, urlKey: urlKey) else { return }
                state.memory.fill(rows, of: url, urlKey: urlKey)
            }
        }
        return rows
    }

    /// All rows, if memory knows them, and a snapshot for a lookup on the disk. First asks the database whether another process
    /// has changed it, if it was last asked more than a second ago.
    private func peek(
        at url: String, urlKey: UInt64, now: Date
    ) -> (complete: [StoredRow]?, snapshot: PendingSnapshot) {
        let (isDue, known) = state.withLock { state in
            (state.isVerificationDue(at: now), state.peek(at: url, urlKey: urlKey))
        }
        guard isDue else { return known }
        let answer: Void? = readDisk { try verifyMemory(by: $0, at: now) }
        return state.withLock { state in
            if answer == nil {
                state.verifiedAt = now
                state.memory.invalidateAll()
            }
            return state.peek(at: url, urlKey: urlKey)
        }
    }

    /// Asks the database whether another process has changed it. If so, memory knows that before another lookup gets the
    /// connection, which says only once that there was a change.
    func verifyMemory(by connection: ReadConnection, at now: Date) throws {
        let hasChanged = try connection.hasChanged()
        state.withLock { state in
            state.verifiedAt = now
            if hasChanged { state.memory.invalidateAll() }
            state.note(connection.generation)
        }
    }

    /// Whether another process has removed a response that only memory has.
    func isRemovedElsewhere(_ row: StoredRow, usesDisk: Bool) -> Bool {
        usesDisk && row.isMemoryOnly
            && leases.isRemoved(row.urlKey, since: Date(milliseconds: row.stored), now: time.now)
    }

    /// The rows in the database; nil if the disk is not used, or can't be read.
    private func readRows(
        of url: String, urlKey: UInt64, snapshot: PendingSnapshot, wanting: ((StoredRow) -> Bool)?, withOlder: Bool
    ) -> [StoredRow]? {
        guard snapshot.usesDisk else { return nil }
        let endsThere = !withOlder && !snapshot.hasMemory && snapshot.isEmpty
        var missingBefore: Set<Int64>?
        while true {
            let answer = readDisk { connection in
                try connection.rows(
                    of: url, urlKey: urlKey, wanting: wanting, hasBody: snapshot.hasBody, endsThere: endsThere)
            }
            guard let answer else { return nil }
            dropCorrupt(answer.corrupt, urlKey: urlKey)
            // If a body file is missing, its entry may just have been evicted. If the second try finds the entry, but again no
            // file, the entry is corrupt.
            guard let missingBefore else {
                if answer.missing.isEmpty { return answer.rows }
                missingBefore = Set(answer.missing)
                continue
            }
            dropCorrupt(answer.missing.filter(missingBefore.contains), urlKey: urlKey)
            return answer.rows.filter { !answer.missing.contains($0.id) }
        }
    }

    /// The body of a response; nil if it is gone, or was corrupt and has been dropped.
    ///
    /// - Parameters:
    ///   - place: the length and checksum of the body according to the database, if they are known.
    ///   - fromDisk: whether to read a body that is not in memory.
    func body(of id: Int64, url: String, known place: StoredBody? = nil, fromDisk: Bool = true) -> Data? {
        guard !ForkedProcess.isCurrent else { return nil }
        let urlKey = Checksum64.of(url)
        let (known, pending, usesDisk) = state.withLock { state in
            let known = state.memory.knownRows(of: url, urlKey: urlKey).first { $0.id == id }
            return (known, state.log.changes(for: urlKey), state.diskCapacity > 0)
        }
        if let body = known?.body { return body }
        if !pending.isEmpty {
            guard rows(of: url, urlKey: urlKey).contains(where: { $0.id == id }) else { return nil }
            // Memory may not have had room for the body of a response that is not on the disk yet.
            for case .store(let row) in pending where row.id == id {
                if let body = row.body { return body }
            }
        }
        guard usesDisk, fromDisk,
            let body = readFile(of: id, at: place)
                ?? read(id, urlKey: urlKey, { try $0.body(of: id, urlKey: urlKey) })
        else { return nil }
        if let known { keep(body: body, cached: nil, for: known) }
        return body
    }

    /// Reads a body file without asking the database again; nil if the body is not in a file, or if the file is missing, corrupt
    /// or unreadable.
    private func readFile(of id: Int64, at place: StoredBody?) -> Data? {
        guard let place, place.isInFile, case .complete(let body) = readDisk({ $0.file(of: id, expecting: place) })
        else { return nil }
        return body
    }

    /// Reads the body of an entry, or opens its file. If the file is missing, the entry may just have been evicted. If the second
    /// try finds the entry, but again no file, the entry is corrupt.
    func read<Body>(
        _ id: Int64, urlKey: UInt64, _ body: (ReadConnection) throws -> BodyResult<Body>?
    ) -> Body? {
        for isLastTry in [false, true] {
            switch readDisk(body) {
            case .complete(let body): return body
            case .missing where !isLastTry: continue
            case .corrupt, .missing: dropCorrupt([id], urlKey: urlKey)
            case .unreadable, nil, .some(nil): break
            }
            return nil
        }
        return nil
    }
}

extension ResponseCache.State {
    /// Whether it is time to ask whether another process has changed the database.
    fileprivate func isVerificationDue(at now: Date) -> Bool {
        // The absolute value, because the clock may have been set back.
        memory.capacity > 0 && diskCapacity > 0
            && abs(now.timeIntervalSince(verifiedAt)) >= ResponseCache.memoryTrustInterval
    }

    /// Drops the responses that only memory has if another process has replaced the generation: it may have removed everything.
    fileprivate mutating func note(_ found: Generation) {
        if let generation, generation != found { memory.dropMemoryOnly() }
        generation = log.hasSweeps ? nil : found
    }

    fileprivate mutating func peek(
        at url: String, urlKey: UInt64
    ) -> (complete: [StoredRow]?, snapshot: PendingSnapshot) {
        (memory.completeRows(of: url, urlKey: urlKey), snapshot(of: url, urlKey: urlKey))
    }

    private func snapshot(of url: String, urlKey: UInt64) -> PendingSnapshot {
        PendingSnapshot(
            known: memory.knownRows(of: url, urlKey: urlKey), pending: log.changes(for: urlKey),
            changeCount: changes[urlKey], epoch: memory.epoch, usesDisk: diskCapacity > 0,
            hasMemory: memory.capacity > 0)
    }

    /// Whether, as far as this process knows, no process has changed the URL since the snapshot.
    fileprivate func isUnchanged(since snapshot: PendingSnapshot, urlKey: UInt64) -> Bool {
        changes[urlKey] == snapshot.changeCount && memory.epoch == snapshot.epoch
    }
}
