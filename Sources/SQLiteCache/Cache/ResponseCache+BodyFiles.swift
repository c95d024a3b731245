import Foundation
import HTTPCaching
import SynchronizerSupport

// Bodies in files: while they arrive, and when they are stored. These calls wait for the disk.
extension ResponseCache {
    /// Makes a file for an incoming body; nil if the cache does not take the body. If its length is not known, the file grows.
    func makePartial(for url: String, resumable: StoredResponse?, length: Int?) -> PartialFile? {
        guard !ForkedProcess.isCurrent, state.withLock({ $0.diskCapacity > 0 }) else { return nil }
        return writer.perform(for: self) { connection, budget in
            try connection.makePartial(
                for: url, resumable: resumable, length: length ?? PartialFile.firstReservation,
                budget: budget, marking: { try connection.markUsed(from: self, budget: budget) })
        } ?? nil
    }

    /// Makes room for more of a body; returns whether the cache takes a body of that length.
    func grow(_ partial: PartialFile, to length: Int) -> Bool {
        guard !ForkedProcess.isCurrent else { return false }
        return writer.perform(for: self) { try $0.grow(partial, to: length, budget: $1) } ?? false
    }

    /// The partial bodies that were kept for a URL.
    func kept(for url: String) -> [KeptPartial] {
        guard !ForkedProcess.isCurrent else { return [] }
        if state.withLock({ $0.log.hasRemovals }) { _ = writer.perform(for: self) { _, _ in } }
        guard let newest = try? Generation.newest(in: directory) else { return [] }
        return newest.partials.kept(for: url)
    }

    func removePartials(for url: String) {
        guard !ForkedProcess.isCurrent, let newest = try? Generation.newest(in: directory) else { return }
        newest.partials.remove(for: url)
    }

    /// Stores a response whose body has arrived in a file of the cache; returns whether the cache has taken it.
    ///
    /// - Parameters:
    ///   - isCopy: whether the entry is a copy of one of another level, with the same identifier.
    ///   - fence: set if the response must not replace one that was requested later.
    func store(
        _ record: StoredRecord, file: BodyFile, id: Int64 = MonotonicID.next(), isCopy: Bool = false,
        fence: LateResponseFence? = nil
    ) -> Bool {
        guard !ForkedProcess.isCurrent, file.partial != nil else { return false }
        let url = record.response.url
        let row = StoredRow(
            id: id, url: url, urlKey: Checksum64.of(url), revision: isCopy ? MonotonicID.next() : id,
            stored: time.now.milliseconds, record: EncodedRecord(record), variant: record.response.variantKey,
            bodySize: file.count, fence: fence)
        let changes = state.withLock { $0.changes[row.urlKey] }
        let paths = writer.perform(for: self) { connection, budget in
            // The capacity may have become smaller since the body began to arrive.
            guard budget.accepts(row.record, bodySize: file.count) else { return [String]() }
            return try connection.adopt(row, file: file) ? connection.files.paths(id) : []
        }
        guard let paths, !paths.isEmpty else { return false }
        file.partial?.wasAdopted(at: paths)
        state.withLock { state in
            // If the URL has changed since the writer began, memory can't tell which change was the last one.
            if state.changes[row.urlKey] == changes {
                state.memory.apply(.store(row))
            } else {
                state.memory.invalidateAll()
            }
            state.changes.count(row.urlKey)
        }
        return true
    }

    /// The file of a stored body, verified; nil if the body is not in a file, can't be read, or was corrupt and has been dropped.
    func bodyFile(of id: Int64, url: String) -> BodyFile? {
        guard !ForkedProcess.isCurrent else { return nil }
        let urlKey = Checksum64.of(url)
        return read(id, urlKey: urlKey) { try $0.bodyFile(of: id, urlKey: urlKey) }
    }
}
