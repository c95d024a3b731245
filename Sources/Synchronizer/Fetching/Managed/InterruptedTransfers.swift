import Foundation
import HTTPCaching

/// What has come of transfers that died midway, kept in memory for the next try (RFC 9111 §3.3).
///
/// It stands before the store and shows each of them as a stored part: so the rules ask for what is missing with
/// `Range` and `If-Range`, put the two together if the strong validator is the same, and start over if it is not.
/// Nothing of an interrupted transfer reaches the store itself.
final class InterruptedTransfers: ResponseStore {
    private struct Part {
        let id: Int64
        let response: StoredResponse
        let body: Data
    }

    private struct State {
        var parts = LRUList<String, Part>()
        var bytes = 0
        var lastID: Int64 = 0

        mutating func remove(_ url: String) {
            if let part = parts.remove(url) { bytes -= part.body.count }
        }
    }

    private static let limit = 32 << 20
    private let store: (any ResponseStore)?
    private let state = Locked(State())

    init(before store: (any ResponseStore)?) {
        self.store = store
    }

    /// Keeps the whole beginning of a body, if the rest can be asked for.
    func keep(_ response: StoredResponse, _ body: Data) {
        guard body.count <= Self.limit else { return }
        state.withLock { state in
            state.remove(response.url)
            state.lastID -= 1  // no store has negative identifiers
            state.parts.insert(Part(id: state.lastID, response: response, body: body), for: response.url)
            state.bytes += body.count
            while state.bytes > Self.limit, let oldest = state.parts.leastRecentlyUsed { state.remove(oldest) }
        }
    }

    // MARK: - ResponseStore

    func entries(for url: String) -> [StoredEntry] {
        let stored = store?.entries(for: url) ?? []
        guard let part = state.withLock({ $0.parts[url] }) else { return stored }
        return stored + [StoredEntry(response: part.response, id: part.id, bodySize: part.body.count)]
    }

    func body(of entry: StoredEntry) -> Data? {
        guard entry.id < 0 else { return store?.body(of: entry) }
        return state.withLock { state in
            state.parts[entry.response.url].flatMap { $0.id == entry.id ? $0.body : nil }
        }
    }

    func store(_ response: StoredResponse, _ cached: CachedURLResponse) {
        state.withLock { $0.remove(response.url) }
        store?.store(response, cached)
    }

    func update(_ entry: StoredEntry, to response: StoredResponse) {
        if entry.id >= 0 { store?.update(entry, to: response) }
    }

    func remove(_ entry: StoredEntry) {
        guard entry.id < 0 else {
            store?.remove(entry)
            return
        }
        state.withLock { state in
            if state.parts[entry.response.url]?.id == entry.id { state.remove(entry.response.url) }
        }
    }

    func removeEntries(for url: String) {
        state.withLock { $0.remove(url) }
        store?.removeEntries(for: url)
    }

    func removeAll() {
        state.withLock { $0 = State() }
        store?.removeAll()
    }
}

extension Exchange {
    /// What has come of a body that was cut short, as the beginning of the representation; nil if the rest could not
    /// be asked for: without a strong validator, coded, or if the caller asked for a range itself. `old` is the
    /// beginning that this exchange was to complete.
    func interrupted(after old: Data?) -> (StoredResponse, Data)? {
        let fields = reception.fields
        guard hop.cacheRequest.method == "GET", !hop.cacheRequest.fields.contains("Range"), !reception.body.isEmpty,
            [nil, .notCacheable].contains(Storing.objection(to: 200, fields, answering: hop.cacheRequest)),
            let tag = fields["ETag"].flatMap(EntityTag.init), tag.isStrong, !fields.contains("Content-Encoding")
        else { return nil }
        var body = reception.body
        var length = reception.bodyLength
        if reception.status == 206 {
            guard let old, case .complete(let selection, _, let start) = hop.verdict, start == old.count,
                let part = Storing.part(of: fields), part.range.lowerBound == start,
                hop.entries[selection.index].response.fields["ETag"] == fields["ETag"]
            else { return nil }
            body = old + body
            length = part.completeLength
        } else if reception.status != 200 {
            return nil
        }
        guard length.map({ body.count < $0 }) ?? true else { return nil }
        let part = StoredResponse.Part(range: 0..<body.count, completeLength: length)
        var response = StoredResponse(
            url: hop.cacheRequest.url, method: "GET", selectingFields: HTTPFields(), status: 206, fields: fields,
            requestTime: requestTime, responseTime: reception.responseTime, part: part)
        response.fields = Storing.storedFields(of: fields, receivedAt: reception.responseTime)
        response.fields["Content-Range"] = part.contentRange
        response.fields["Content-Length"] = String(body.count)
        response.selectingFields = SelectingFields.of(hop.cacheRequest, for: response.fields, among: [])
        return (response, body)
    }
}
