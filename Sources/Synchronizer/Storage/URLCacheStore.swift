import Foundation
import HTTPCaching

/// A shield around any `URLCache`, above all around the stock one on Linux: right answers or none.
///
/// Stock `URLCache` on Linux finds a response by host, port and path alone, ends the process when it evicts a URL that
/// was stored twice, and when it reads an array in `userInfo` back from its disk (Swift 6.3). So each response is stored
/// with a record of what it answers, as one `Data` in `userInfo`, and is only used for exactly that; what is there is
/// removed before something is stored; and nothing else of `userInfo` is given away. It keeps one response for a URL:
/// the last.
final class URLCacheStore: ResponseStore {
    private let cache: URLCache
    /// Between finding an entry and reading its body lie microseconds, and a scan of the stock cache's directory.
    private let recent = Locked<[(id: Int64, body: Data)]>([])

    /// Two stores may shield one cache, so that all changes wait for each other here: in a queue, because the stock cache
    /// reads and writes files meanwhile, which is nothing to be done under a `Locked`.
    private static let changes = DispatchQueue(label: "URLCacheStore.changes")
    private static let recordKey = "Synchronizer.record"

    init(_ cache: URLCache) {
        self.cache = cache
    }

    func entries(for url: String) -> [StoredEntry] {
        guard let found = find(url) else { return [] }
        let entry = StoredEntry(response: found.record.response, id: found.id, bodySize: found.body.count)
        remember(found.id, found.body)
        return [entry]
    }

    func body(of entry: StoredEntry) -> Data? {
        let known = recent.withLock { recent in
            recent.firstIndex { $0.id == entry.id }.map { recent.remove(at: $0).body }
        }
        if let known { return known }
        guard let found = find(entry.response.url), found.id == entry.id else { return nil }
        return found.body
    }

    func store(_ response: StoredResponse, _ cached: CachedURLResponse) {
        guard cached.storagePolicy != .notAllowed, let request = Self.request(response.url) else { return }
        put(StoredRecord(response), GrowingID.next(), cached.data, cached.storagePolicy, for: request)
    }

    func update(_ entry: StoredEntry, to response: StoredResponse) {
        guard let request = Self.request(entry.response.url), response.url == entry.response.url else { return }
        guard let found = find(entry.response.url), found.id == entry.id else { return }
        var record = found.record
        record.response = response
        put(record, found.id, found.body, found.policy, for: request)
    }

    func remove(_ entry: StoredEntry) {
        guard let found = find(entry.response.url), found.id == entry.id else { return }
        removeEntries(for: entry.response.url)
    }

    func removeEntries(for url: String) {
        guard let request = Self.request(url) else { return }
        Self.changes.sync { cache.removeCachedResponse(for: request) }
    }

    func removeAll() {
        Self.changes.sync { cache.removeAllCachedResponses() }
    }

    private struct Found {
        let id: Int64
        let record: StoredRecord
        let body: Data
        let policy: URLCache.StoragePolicy
    }

    /// What is stored for exactly this URL, by us or by another user of the cache.
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

    /// A response that somebody else has stored says neither for which request nor when. It is taken for an answer to a
    /// GET for its own URL, without selecting fields, of the date that its server gave it.
    private static func foreignRecord(of cached: CachedURLResponse) -> (id: Int64, record: StoredRecord)? {
        guard let http = cached.response as? HTTPURLResponse, let url = http.url?.absoluteString,
            http.statusCode != 206
        else { return nil }
        let fields = HTTPFields(of: http)
        guard fields["Vary"] == nil else { return nil }
        let date = Date.distantPast
        let response = StoredResponse(
            url: url, method: "GET", selectingFields: HTTPFields(), status: http.statusCode, fields: fields,
            requestTime: date, responseTime: date,
            injectedCacheControl: cached.userInfo?[InjectionMark.userInfoKey] as? String)
        let record = StoredRecord(response)
        let digest = EncodedRecord(record).bytes.withUnsafeBytes { Digest.of($0) }
        let id = cached.data.withUnsafeBytes { Digest.of($0, seed: digest) }
        return (Int64(bitPattern: id >> 1), record)  // identifiers are not negative
    }

    private func put(
        _ record: StoredRecord, _ id: Int64, _ body: Data, _ policy: URLCache.StoragePolicy, for request: URLRequest
    ) {
        let encoded = EncodedRecord(record)
        guard let url = request.url, let response = encoded.urlResponse(url) else { return }
        var stored = withUnsafeBytes(of: id.littleEndian) { Data($0) }
        stored.append(contentsOf: encoded.bytes)
        let cached = CachedURLResponse(
            response: response, data: body, userInfo: [Self.recordKey: stored], storagePolicy: policy)
        Self.changes.sync {
            if Self.removesBeforeStoring { cache.removeCachedResponse(for: request) }
            cache.storeCachedResponse(cached, for: request)
        }
    }

    private func remember(_ id: Int64, _ body: Data) {
        recent.withLock { recent in
            recent.removeAll { $0.id == id }
            recent.append((id, body))
            if recent.count > 8 { recent.removeFirst() }
        }
    }

    private static func request(_ url: String) -> URLRequest? {
        URL(string: url).map { URLRequest(url: $0) }
    }

    #if canImport(FoundationNetworking)
        private static let removesBeforeStoring = true
    #else
        /// Apple's cache removes and stores in the background, in an order of its own.
        private static let removesBeforeStoring = false
    #endif
}
