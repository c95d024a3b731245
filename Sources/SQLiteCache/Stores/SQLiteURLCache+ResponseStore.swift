import Foundation
import HTTPCaching
import SynchronizerSupport

extension SQLiteURLCache: ResponseStore {
    package func entries(for url: String) -> [StoredEntry] {
        var newest: Int64?
        var entries: [StoredEntry] = []
        // Most lookups need the newest response. A small body costs less together with its row.
        let isSmall = { (row: StoredRow) in row.bodySize <= StoredBody.largestInDatabase }
        for row in cache.rows(of: url, wanting: isSmall, withOlder: true) where row.record.isHTTP {
            newest = newest ?? row.id
            guard let response = row.record.decoded?.response else { continue }
            let body = isSmall(row) ? row.body : nil
            entries.append(
                StoredEntry(
                    response: response, id: row.id, bodySize: row.bodySize, bodyChecksum: row.bodyChecksum, body: body))
        }
        if let newest { cache.markUsed(newest) } else { cache.countMiss() }
        return entries
    }

    package func body(of entry: StoredEntry) -> Data? {
        let known = entry.bodyChecksum.map { StoredBody(length: entry.bodySize, checksum: $0) }
        return cache.body(of: entry.id, url: entry.response.url, known: known) { entry.response.variantKey }
    }

    @discardableResult
    package func store(_ response: StoredResponse, _ cached: CachedURLResponse) -> Int64? {
        guard cached.storagePolicy != .notAllowed else { return nil }
        return cache.store(storedRecord(of: response, cached), cached: cached, keepsObject: false)
    }

    func storedRecord(of response: StoredResponse, _ cached: CachedURLResponse) -> StoredRecord {
        StoredRecord(response, with: cached)
    }

    package func refusal(toStore bytes: Int) -> StoreRefusal? { cache.refusal(toStore: bytes) }

    package func update(_ entry: StoredEntry, to response: StoredResponse) {
        cache.update(entry.id, url: entry.response.url, to: response)
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
}
