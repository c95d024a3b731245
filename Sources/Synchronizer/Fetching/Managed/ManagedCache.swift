import Foundation
import HTTPCaching

/// The cache as managed fetches see it: the store, interrupted transfers, invalidations, and the rules.
final class ManagedCache: Sendable {
    let rules: CacheRules
    let time: any TimeSource
    let invalidations: InvalidationLog
    let reasons = StoringReasons()
    /// Nil if no leases are taken.
    let leasing: Leasing?
    private let store: (any ResponseStore)?
    private let interrupted = InterruptedTransfers()
    private let removals = PendingRemovals()
    private let abandoned = AbandonedBodies()
    let removing = DispatchQueue(label: "Synchronizer.removing", qos: .userInitiated)

    init(store: (any ResponseStore)?, time: any TimeSource, rules: CacheRules, leases: RequestLeases? = nil) {
        leasing = Leasing(store, limits: leases, time: time)
        self.store = store
        invalidations = store?.invalidations ?? InvalidationLog()
        self.time = time
        self.rules = rules
    }

    // MARK: - Reading

    /// The entries that may answer a request.
    func lookUp(_ request: CacheRequest) -> [CacheEntry] {
        guard request.policy.looksUp, request.method == "GET" || request.method == "HEAD" || request.isReusable else {
            return []
        }
        guard removals.contains(request.url) else { return entries(for: request.url) }
        noteRemoval(of: request.url)
        return []
    }

    /// Notes why the entries of a URL that is being invalidated are gone, for the traces of the next loads.
    private func noteRemoval(of key: String) {
        let responses = store?.responses(of: key) ?? []
        // After the removal they may be new ones.
        guard removals.contains(key) else { return }
        for response in responses { reasons.noteRemoval(of: .init(response), because: .invalidated) }
    }

    func entries(for key: String) -> [CacheEntry] {
        var entries: [CacheEntry] = []
        store?.forEachEntry(of: key) { entries.append(.stored($0)) }
        if let part = interrupted.part(for: key) { entries.append(.interrupted(part)) }
        return entries
    }

    /// The body of an entry; nil if it is gone.
    func body(of entry: CacheEntry) -> Data? {
        switch entry {
        case .stored(let entry): entry.body ?? store?.body(of: entry)
        case .interrupted(let part): interrupted.body(of: part)
        case .partial: nil
        }
    }

    // MARK: - Objects next to bodies

    /// The objects that were made from the body of an entry; nil if the store keeps none.
    func offer(of entry: CacheEntry) -> StoredOffer? {
        guard case .stored(let entry) = entry, let objects, let checksum = entry.availableChecksum else { return nil }
        let source = DerivedSource(entry: entry.id, checksum: checksum, bodySize: entry.bodySize)
        return StoredOffer(source) { objects.derivedObject($0, of: source) }
    }

    func keepObject(_ data: Data, as name: String, of source: DerivedSource) {
        objects?.keepDerivedObject(data, as: name, of: source)
    }

    private var objects: (any DerivedObjectStore)? { store as? any DerivedObjectStore }

    // MARK: - Bodies in files

    /// Whether there is no store.
    var isMissing: Bool { store == nil }

    /// The store if bodies may arrive in its files.
    var files: (any BodyFileStore)? { store as? any BodyFileStore }

    /// The entries that may answer a request whose body goes to a file. Kept beginnings in memory are left out, and so are stored
    /// parts unless the request has a range: the rest cannot be appended to a file that has their bytes.
    func lookUp(_ request: CacheRequest, in places: BodyPlaces) -> [CacheEntry] {
        let wantsPart = request.fields.contains(FieldName.range)
        let entries = lookUp(request).filter { entry in
            if case .stored(let stored) = entry { wantsPart || stored.response.part == nil } else { false }
        }
        // A load that the cache answers does not read the folder of its destination, which may be large.
        if case .reuse = rules.decision(for: request, among: entries.map(\.candidate), at: time.now) { return entries }
        // A load that ignores stored responses does not continue a beginning, but removes it when another body begins.
        guard !wantsPart, request.method == "GET" else {
            places.sweep()
            return entries
        }
        abandoned.wait(for: places.cacheKey)
        return entries + places.kept().map(CacheEntry.partial)
    }

    /// The body of an entry; nil if it is gone.
    func bytes(of entry: CacheEntry) -> StoredBytes? {
        if case .stored(let stored) = entry, let files { return files.bytes(of: stored) }
        return body(of: entry).map(StoredBytes.data)
    }

    /// As ``store(_:content:)``, for a response whose body is in a file. A store that takes no files gets small bodies in memory.
    /// An older response does not outlive one that is not stored.
    func store(_ response: StoredResponse, content: CachedURLResponse, file: BodyFile) -> KeptResponse? {
        if let entry = files?.store(response, as: content, file: file) {
            return KeptResponse(response: response, entry: entry, refusal: nil)
        }
        guard file.count <= Self.largestBodyInMemory, let data = file.data else {
            removeEntries(before: response)
            let reason = refusal(toStore: file.count, policy: content.storagePolicy) ?? .tooLarge
            return KeptResponse(response: response, entry: nil, refusal: reason)
        }
        return store(
            response,
            content: CachedURLResponse(
                response: content.response, data: data, userInfo: content.userInfo, storagePolicy: content.storagePolicy
            ))
    }

    /// Removes the entries of the response's URL that were requested before the response, or at the same time. The store may have
    /// refused the response because it has an entry that was requested later.
    private func removeEntries(before response: StoredResponse) {
        for entry in store?.entries(for: response.url) ?? [] where entry.response.requestTime <= response.requestTime {
            store?.remove(entry)
        }
    }

    /// The largest body of a file that is read into memory to be stored.
    private static let largestBodyInMemory = 1 << 20

    /// Keeps what has arrived of a cancelled load. A lookup that begins later finds it.
    func abandon(_ sink: BodySink) { abandoned.keep(sink) }

    // MARK: - Changing

    /// Changes the cache unless the key was invalidated after the mark (RFC 9111 §4.4); returns the result if the change holds.
    /// Invalidations are logged before entries are removed, so checking before and after the change is enough.
    func change<Result>(_ key: String, since mark: InvalidationLog.Mark, _ change: () -> Result?) -> Result? {
        guard !invalidations.isInvalid(key, since: mark) else { return nil }
        finishRemoval(of: key)
        let result = change()
        guard invalidations.isInvalid(key, since: mark) else { return result }
        removeEntries(for: key)
        return nil
    }

    /// Why a body of this size is not kept; nil if it is.
    private func refusal(toStore bytes: Int, policy: URLCache.StoragePolicy) -> ResponseStoring.Reason? {
        guard let store else { return .noCache }
        switch store.refusal(toStore: bytes, policy: policy) {
        case .tooLarge?: return .tooLarge
        case .diskFailed?: return .diskFailed
        case nil: return nil
        }
    }

    /// Stores a response. Nil if the store refuses it, because another process has sent its request later.
    ///
    /// - Parameter content: not evaluated without a store.
    func store(_ response: StoredResponse, content: @autoclosure () -> CachedURLResponse) -> KeptResponse? {
        interrupted.remove(response.url)
        guard let store else { return KeptResponse(response: response, entry: nil, refusal: .noCache) }
        let content = content()
        return store.store(response, as: content).map { entry in
            let refusal = refusal(toStore: content.data.count, policy: content.storagePolicy)
            return KeptResponse(response: response, entry: entry, refusal: refusal)
        }
    }

    /// As ``store(_:content:)``.
    func update(_ entry: CacheEntry, to response: StoredResponse) -> KeptResponse? {
        if case .stored(let entry) = entry, store?.update(entry, to: response) == false { return nil }
        let refusal = refusal(toStore: entry.bodySize, policy: .allowed)
        return KeptResponse(response: response, entry: entry.storedID, refusal: refusal)
    }

    func keepInterrupted(_ response: StoredResponse, body: Data) { interrupted.keep(response, body: body) }

    // MARK: - Removing

    func remove(_ entry: CacheEntry) {
        switch entry {
        case .stored(let entry): store?.remove(entry)
        case .interrupted(let part): interrupted.remove(part)
        case .partial(let kept): kept.remove()
        }
    }

    func removeEntries(for key: String) {
        interrupted.remove(key)
        files?.removePartials(for: key)
        store?.removeEntries(for: key)
    }

    /// Removes what is stored for a request, because its body could not be parsed. For a `GET`, or the `GET` that a redirect has
    /// made of the request, these are all entries of the URL; for other requests, those with the same method and ``CacheKey``.
    func removeUndecodable(_ request: CacheRequest) {
        let keys = (store?.responses(of: request.url) ?? []).map { StoringReasons.Key($0) }
        let own = StoringReasons.Key(request)
        let isOwn = keys.contains(own) || reasons.reason(for: request) != nil  // it is stored, or known not to be
        let undecodable = isOwn ? own : StoringReasons.Key(url: request.url)
        let isGET = undecodable.method == "GET"
        for key in keys where isGET || key == undecodable {
            reasons.noteRemoval(of: key, because: key == undecodable ? .undecodable : .invalidated)
        }
        if isGET { return removeEntries(for: request.url) }
        for entry in store?.entries(for: request.url) ?? [] where StoringReasons.Key(entry.response) == undecodable {
            store?.remove(entry)
        }
    }

    func removeAll() {
        invalidations.noteEverything(at: time.now)
        interrupted.removeAll()
        reasons.removeAll()
        store?.removeAll()
    }

    /// Removes entries from the disk soon; lookups miss them at once.
    func removeSoon(_ keys: [String]) {
        invalidations.note(keys, at: time.now)
        removeNoted(keys)
    }

    /// The same for entries that a response invalidates. Returns the new mark of its exchange: with this mark, the response itself
    /// may still be stored.
    func removeSoon(_ keys: [String], keeping mark: InvalidationLog.Mark, of key: String) -> InvalidationLog.Mark {
        let mark = invalidations.note(keys, at: time.now, keeping: mark, of: key)
        removeNoted(keys)
        return mark
    }

    private func removeNoted(_ keys: [String]) {
        reasons.noteInvalidation(of: keys)
        removals.add(keys)
        removing.async { [self] in keys.forEach(removePending) }
    }

    /// Completes a pending removal, for example before a new entry is stored under its key.
    func finishRemoval(of key: String) {
        if removals.contains(key) { removing.sync { removePending(key) } }
    }

    private func removePending(_ key: String) {
        dispatchPrecondition(condition: .onQueue(removing))
        // Without a removal, an entry under the key is a new one.
        guard let removal = removals.last(of: key) else { return }
        noteRemoval(of: key)
        removeEntries(for: key)
        removals.end(key, upTo: removal)
    }
}
