import Foundation
import HTTPCaching

extension SQLiteURLCache: ResponseStore {
    package func entries(for url: String) -> [StoredEntry] {
        let rows = cache.rows(of: url).filter { $0.record.isHTTP }
        guard let newest = rows.first else {
            cache.countMiss()
            return []
        }
        cache.markUsed(newest.id)
        return rows.compactMap { row in
            row.record.decoded.map { StoredEntry(response: $0.response, id: row.id, bodySize: row.bodySize) }
        }
    }

    package func body(of entry: StoredEntry) -> Data? {
        cache.body(of: entry.id, url: entry.response.url) { entry.response.variantKey }
    }

    package func store(_ response: StoredResponse, _ cached: CachedURLResponse) {
        guard cached.storagePolicy != .notAllowed else { return }
        var record = StoredRecord(response)
        record.userInfo = StoredRecord.propertyList(cached.userInfo)
        if let own = cached.response.url?.absoluteString, own != response.url { record.responseURL = own }
        cache.store(record, cached, keepsObject: false)
    }

    package func update(_ entry: StoredEntry, to response: StoredResponse) {
        cache.update(entry.id, of: entry.response.url, to: response)
    }

    package func remove(_ entry: StoredEntry) {
        cache.change(.remove(id: entry.id, urlKey: Digest.of(entry.response.url)))
    }

    package func removeEntries(for url: String) {
        cache.change(.removeURL(url, urlKey: Digest.of(url)))
    }

    package func removeAll() {
        cache.change(.removeAll)
    }
}
