import Foundation
import HTTPCaching
import SynchronizerSupport

/// A store that makes any `URLCache` safe to use, especially Foundation's on Linux: it returns correct responses or none.
///
/// Foundation's `URLCache` on Linux (Swift 6.3) finds a response by host, port and path alone. It ends the process when it
/// evicts a URL that was stored twice, or reads an array in `userInfo` from its disk. So this store adds a record of the
/// request to each response, as one `Data` in `userInfo`, and uses the response for exactly that request. It removes the old
/// entry of a URL before it stores another, and passes no other `userInfo` on. It keeps one response for each URL, the latest.
package final class URLCacheStore: ResponseStore {
    package let invalidations: InvalidationLog
    private let cache: URLCache
    /// The bodies of the latest lookups. To read a body again, Foundation's cache would scan its directory.
    private let recent = Locked<[(id: Int64, body: Data)]>([])

    /// Serializes all changes, together with the lookups that they depend on, because two stores may use one cache. It is a queue
    /// and not a `Locked`, because Foundation's cache reads and writes files.
    private static let changes = DispatchQueue(label: "URLCacheStore.changes")
    private static let recordKey = "Synchronizer.record"

    package init(_ cache: URLCache) {
        self.cache = cache
        invalidations = .shared(by: cache)
    }

    package func entries(for url: String) -> [StoredEntry] {
        guard let found = find(url) else { return [] }
        let entry = StoredEntry(response: found.record.response, id: found.id, bodySize: found.body.count)
        remember(found.body, of: found.id)
        return [entry]
    }

    package func responses(of url: String) -> [StoredResponse] { find(url).map { [$0.record.response] } ?? [] }

    package func body(of entry: StoredEntry) -> Data? {
        let known = recent.withLock { recent in
            recent.firstIndex { $0.id == entry.id }.map { recent.remove(at: $0).body }
        }
        if let known { return known }
        guard let found = find(entry.response.url), found.id == entry.id else { return nil }
        return found.body
    }

    @discardableResult
    package func store(_ response: StoredResponse, as cached: CachedURLResponse) -> Int64? {
        guard cached.storagePolicy != .notAllowed, let request = Self.request(response.url) else { return nil }
        let id = MonotonicID.next()
        Self.changes.sync {
            put(StoredRecord(response), id: id, body: cached.data, policy: cached.storagePolicy, for: request)
        }
        return id
    }

    package func refusal(toStore bytes: Int, policy: URLCache.StoragePolicy) -> StoreRefusal? {
        guard type(of: cache) == URLCache.self else { return nil }  // a subclass may have rules of its own
        let onDisk = policy == .allowedInMemoryOnly ? 0 : cache.diskCapacity
        return bytes < max(cache.memoryCapacity, onDisk) / Self.bodiesPerCapacity ? nil : .tooLarge
    }

    @discardableResult
    package func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool {
        guard let request = Self.request(entry.response.url), response.url == entry.response.url else { return true }
        Self.changes.sync {
            guard let found = find(entry.response.url), found.id == entry.id else { return }
            var record = found.record
            record.response = response
            put(record, id: found.id, body: found.body, policy: found.policy, for: request)
        }
        return true
    }

    package func remove(_ entry: StoredEntry) {
        guard let request = Self.request(entry.response.url) else { return }
        Self.changes.sync {
            guard let found = find(entry.response.url), found.id == entry.id else { return }
            cache.removeCachedResponse(for: request)
        }
    }

    package func removeEntries(for url: String) {
        guard let request = Self.request(url) else { return }
        Self.changes.sync { cache.removeCachedResponse(for: request) }
    }

    package func removeAll() {
        Self.changes.sync { cache.removeAllCachedResponses() }
    }

    private struct Found {
        let id: Int64
        let record: StoredRecord
        let body: Data
        let policy: URLCache.StoragePolicy
    }

    /// The response of exactly this URL, stored by this type or by other code that uses the cache.
    private func find(_ url: String) -> Found? {
        guard let request = Self.request(url), let cached = cache.cachedResponse(for: request) else { return nil }
        guard let (id, record) = Self.record(of: cached), record.response.url == url else { return nil }
        return Found(id: id, record: record, body: cached.data, policy: cached.storagePolicy)
    }

    private static func record(of cached: CachedURLResponse) -> (id: Int64, record: StoredRecord)? {
        guard let stored = cached.userInfo?[recordKey] as? Data else { return foreignRecord(of: cached) }
        return stored.withUnsafeBytes { bytes in
            guard bytes.count > 8,
                let record = EncodedRecord(UnsafeRawBufferPointer(rebasing: bytes[8...]))?.decoded
            else { return nil }
            return (Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)), record)
        }
    }

    /// A record for a response that other code has stored. Its request and the time of its storing are not known. So it counts
    /// as the answer to a GET for its own URL without selecting fields, and as so old that it is always stale.
    private static func foreignRecord(of cached: CachedURLResponse) -> (id: Int64, record: StoredRecord)? {
        guard let http = cached.response as? HTTPURLResponse, let url = http.url?.absoluteString,
            http.statusCode != 206
        else { return nil }
        let fields = HTTPFields(of: http)
        guard fields[FieldName.vary] == nil else { return nil }
        let date = Date.distantPast
        let response = StoredResponse(
            url: url, method: "GET", selectingFields: HTTPFields(), status: http.statusCode, fields: fields,
            requestTime: date, responseTime: date,
            injectedCacheControl: cached.userInfo?[InjectionMark.userInfoKey] as? String)
        let record = StoredRecord(response)
        let checksum = EncodedRecord(record).bytes.withUnsafeBytes { Checksum64.of($0) }
        let id = cached.data.withUnsafeBytes { Checksum64.of($0, seed: checksum) }
        return (Int64(bitPattern: id >> 1), record)  // identifiers are not negative
    }

    /// Stores a response. Call it on `changes`.
    private func put(
        _ record: StoredRecord, id: Int64, body: Data, policy: URLCache.StoragePolicy, for request: URLRequest
    ) {
        let encoded = EncodedRecord(record)
        guard let url = request.url, let response = encoded.urlResponse(url: url) else { return }
        var stored = withUnsafeBytes(of: id.littleEndian) { Data($0) }
        stored.append(contentsOf: encoded.bytes)
        let cached = CachedURLResponse(
            response: response, data: body, userInfo: [Self.recordKey: stored], storagePolicy: policy)
        dispatchPrecondition(condition: .onQueue(Self.changes))
        if Self.removesBeforeStoring { cache.removeCachedResponse(for: request) }
        cache.storeCachedResponse(cached, for: request)
    }

    private func remember(_ body: Data, of id: Int64) {
        recent.withLock { recent in
            recent.removeAll { $0.id == id }
            recent.append((id, body))
            if recent.count > 8 { recent.removeFirst() }
        }
    }

    private static func request(_ url: String) -> URLRequest? {
        URL(string: url).map { URLRequest(url: $0) }
    }

    #if !canImport(Darwin)
        private static let removesBeforeStoring = true
        /// Foundation's cache keeps any body that is smaller than its capacity.
        private static let bodiesPerCapacity = 1
    #else
        /// False, because Apple's cache removes and stores in the background, in any order.
        private static let removesBeforeStoring = false
        /// Apple's cache drops bodies larger than about 5 % of its capacity.
        private static let bodiesPerCapacity = 20
    #endif
}
