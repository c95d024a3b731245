import Foundation
import HTTPCaching
import SynchronizerSupport

/// An entry of another level, of which this store keeps a copy with the same identifier.
package struct MirroredEntry: Sendable {
    package enum Body: Sendable {
        case data(Data)
        case memory(Data)
        /// A body that has arrived in a file of this store.
        case file(BodyFile)
    }

    package let id: Int64
    package let record: EncodedRecord
    package let variant: UInt64
    package let body: Body

    package init(id: Int64, record: EncodedRecord, variant: UInt64, body: Body) {
        (self.id, self.record, self.variant, self.body) = (id, record, variant, body)
    }
}

/// The methods by which another level of a cache keeps copies of its entries in this store.
extension SQLiteURLCache {
    /// Whether the store can keep anything.
    package var hasCapacity: Bool {
        !ForkedProcess.isCurrent && cache.state.withLock { $0.memory.capacity > 0 || $0.diskCapacity > 0 }
    }

    /// The identifiers and records of all entries of a URL, newest first.
    package func copies(of url: String) -> [(id: Int64, record: EncodedRecord)] {
        cache.rows(of: url).map { ($0.id, $0.record) }
    }

    /// Stores a copy, in place of the entry with the same identifier or variant; returns whether the store took the body.
    ///
    /// - Parameter yields: whether the copy must not replace a response that was requested later.
    package func keep(_ entry: MirroredEntry, of url: String, yields: Bool = false) -> Bool {
        var fence: LateResponseFence?
        if yields, let response = entry.record.decoded?.response {
            fence = cache.fence(for: response)
            if fence == nil { return false }
        }
        let (body, isMemoryOnly): (Data, Bool)
        switch entry.body {
        case .data(let data): (body, isMemoryOnly) = (data, false)
        case .memory(let data): (body, isMemoryOnly) = (data, true)
        case .file(let file):
            guard let record = entry.record.decoded else { return false }
            return cache.store(record, file: file, id: entry.id, isCopy: true, fence: fence)
        }
        cache.change(
            .store(
                StoredRow(
                    id: entry.id, url: url, urlKey: Checksum64.of(url), revision: MonotonicID.next(),
                    stored: cache.time.now.milliseconds, record: entry.record, variant: entry.variant,
                    bodySize: body.count, body: body, isMemoryOnly: isMemoryOnly, fence: fence)))
        return true
    }

    package func removeCopy(_ id: Int64, of url: String) {
        cache.change(.remove(id: id, urlKey: Checksum64.of(url)))
    }
}
