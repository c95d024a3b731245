import Foundation
import HTTPCaching
import SynchronizerSupport

extension SQLiteURLCache: ResponseStore {
    package func entries(for url: String) -> [StoredEntry] {
        var entries: [StoredEntry] = []
        forEachEntry(of: url) { entries.append($0) }
        return entries
    }

    package func forEachEntry(of url: String, _ body: (StoredEntry) -> Void) {
        var newest: Int64?
        // Most lookups need the newest response. Reading a small body together with its row takes less time.
        let isSmall = { (row: StoredRow) in row.bodySize <= StoredBody.largestInDatabase }
        for row in cache.rows(of: url, wanting: isSmall, withOlder: true) where row.record.isHTTP {
            newest = newest ?? row.id
            guard let response = row.record.decoded(for: url)?.response else { continue }
            body(
                StoredEntry(
                    response: response, id: row.id, bodySize: row.bodySize, bodyChecksum: row.bodyChecksum,
                    body: isSmall(row) ? row.body : nil))
        }
        if let newest { cache.markUsed(newest) } else { cache.countMiss() }
    }

    package func responses(of url: String) -> [StoredResponse] {
        cache.rows(of: url, withOlder: true).filter(\.record.isHTTP).compactMap {
            $0.record.decoded(for: url)?.response
        }
    }

    package func body(of entry: StoredEntry) -> Data? {
        let known = entry.bodyChecksum.map { StoredBody(length: entry.bodySize, checksum: $0) }
        return cache.body(of: entry.id, url: entry.response.url, known: known)
    }

    @discardableResult
    package func store(_ response: StoredResponse, as cached: CachedURLResponse) -> Int64? {
        guard cached.storagePolicy != .notAllowed, let fence = cache.fence(for: response) else { return nil }
        return cache.store(StoredRecord(response, with: cached), cached: cached, keepsObject: false, fence: fence)
    }

    package func refusal(toStore bytes: Int, policy: URLCache.StoragePolicy) -> StoreRefusal? {
        cache.refusal(toStore: bytes, isMemoryOnly: policy == .allowedInMemoryOnly)
    }

    @discardableResult
    package func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool {
        guard let fence = cache.fence(for: response) else { return false }
        cache.update(entry.id, url: entry.response.url, to: response, fence: fence)
        return true
    }

    package func remove(_ entry: StoredEntry) {
        cache.change(.remove(id: entry.id, urlKey: Checksum64.of(entry.response.url)))
    }

    package func removeEntries(for url: String) {
        cache.change(.removeURL(url, urlKey: Checksum64.of(url)))
    }

    package func removeAll() {
        cache.change(.removeAll)
    }

    package var invalidations: InvalidationLog { cache.invalidations }
}
