import Foundation
import HTTPCaching

extension Synchronizer {
    /// The parsed object, if it is in memory and may be used: never blocks, never loads.
    public func cachedObject<R: Resource>(for resource: R) -> R.ParsedObject? {
        cachedObject(for: resource, identity(of: resource))
    }

    /// As ``cachedObject(for:)``, for a caller that has asked for the identity already.
    package func cachedObject<R: Resource>(for resource: R, _ identity: ResourceIdentity) -> R.ParsedObject? {
        guard let known = recall(resource, identity.settingDefault(defaultPolicy)) else { return nil }
        return try? known.object(of: R.self)
    }

    /// Drops a resource's object from memory, and its response from the store: who asks from now on asks the server.
    ///
    /// What a redirect has led to is dropped, too, where an object in memory tells of it. A load in flight goes on for
    /// those who wait for it; nobody joins it any more, and what it brings is not kept. Never blocks.
    public func invalidate<R: Resource>(_ resource: R) {
        let identity = resource.identity
        var targets: Set<URL> = []
        if let sharing = identity.sharing {
            let dropped = memory.take { $0.identity == sharing }
            targets = Set(dropped.compactMap(\.trace.redirects.last))
        }
        let requests = [identity.request] + targets.map { URLRequest(url: $0) }
        fetcher.removeStoredSoon(for: requests)
        loader.invalidate(Set(requests.compactMap { $0.url.map { CacheRules.cacheKey(of: $0.absoluteString) } }))
    }

    /// Drops all parsed objects from memory; what is stored stays.
    public func removeAllObjects() {
        memory.removeAll()
    }

    /// Drops all parsed objects from memory, and all stored responses, as after a log-out. Blocks on the disk: not for
    /// the main thread.
    ///
    /// Loads in flight go on for those who wait for them; nobody joins them any more, and what they bring is not kept.
    public func removeAll() {
        memory.removeAll()
        fetcher.removeAllStored()
        // Only now, as until then the store could still answer: what it has answered is not kept either.
        loader.invalidateAll()
        memory.removeAll()
    }

    /// The object in memory, if the request's cache policy lets it be used; and notes that it was.
    func recall<R: Resource>(_ resource: R, _ identity: ResourceIdentity) -> LoadedObject? {
        guard let known = known(resource, identity) else { return nil }
        if isObserved || known.run.isPrefetched { noteUse(of: known, identity.sharing) { identity.request.url } }
        return known
    }

    /// The object in memory, if the request's cache policy lets it be used.
    func known<R: Resource>(_ resource: R, _ identity: ResourceIdentity) -> LoadedObject? {
        guard let use = identity.memoryUse, let key = resource.objectKey(identity) else { return nil }
        return memory.value(for: key, now: freshnessClock.now, anyAge: use == .ofAnyAge)
    }

    /// An object in memory is somebody's answer.
    @inline(never)  // seldom called, from where every nanosecond counts
    func noteUse(of known: LoadedObject, _ identity: RequestIdentity?, url: () -> URL?) {
        if known.run.isPrefetched, let identity { prefetcher.asked(for: identity) }
        if let observer {
            observer.synchronizerDid(
                SynchronizerEvent(load: nil, url: url(), kind: .cached(.memory), date: time.now))
        }
    }
}
