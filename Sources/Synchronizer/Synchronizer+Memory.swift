import Foundation
import HTTPCaching

extension Synchronizer {
    /// The parsed object, if it is in memory and may be used. Never blocks, and never loads.
    ///
    /// Nil with ``Configuration/prepare``: the request is unknown until the hook has returned, and the object of an earlier
    /// request may be another user's.
    public func cachedObject<R: Resource>(for resource: R) -> R.ParsedObject? {
        guard let known = recall(resource, identity: identity(of: resource)) else { return nil }
        return try? known.object(of: R.self)
    }

    /// As ``cachedObject(for:)``, for a caller that has the identity already, and that loads the resource right afterwards: the
    /// load reports the hit, so that it counts once.
    package func objectInMemory<R: Resource>(for resource: R, identity: ResourceIdentity) -> R.ParsedObject? {
        guard let known = known(resource, identity: completed(identity, of: resource)) else { return nil }
        return try? known.object(of: R.self)
    }

    /// Puts an object into memory, as if a load had parsed it: for previews, for tests, and for an object that you have already.
    ///
    /// Loads get it until its lifetime has passed, or it is evicted or invalidated; nothing is stored on the disk. It
    /// has no effect if memory never answers such a request: a `POST` without a ``CacheKey``, or a request whose cache
    /// policy asks the server.
    ///
    /// With ``Configuration/prepare``, it is inserted when the hook has returned, and not at all if the hook throws: use
    /// ``insertPrepared(_:for:lifetime:)`` to wait for that.
    ///
    /// - Parameters:
    ///   - object: the object.
    ///   - resource: the resource that it belongs to.
    ///   - lifetime: seconds for which loads get the object; by default without limit.
    public func insert<R: Resource>(
        _ object: R.ParsedObject, for resource: R, lifetime: TimeInterval = .infinity
    ) {
        let identity = identity(of: resource)
        guard let prepare = hookThatPrepares else {
            return insert(object, for: resource, identity: identity, lifetime: lifetime)
        }
        Task {
            let prepared = try await self.prepared(identity, by: prepare)
            insert(object, for: resource, identity: prepared, lifetime: lifetime)
        }
    }

    /// Puts an object into memory like ``insert(_:for:lifetime:)``, and returns when loads can get it: with
    /// ``Configuration/prepare``, when the hook has returned.
    ///
    /// - Throws: the error of the hook. Then nothing is inserted.
    public func insertPrepared<R: Resource>(
        _ object: R.ParsedObject, for resource: R, lifetime: TimeInterval = .infinity
    ) async throws {
        var identity = identity(of: resource)
        if let prepare = hookThatPrepares { identity = try await self.prepared(identity, by: prepare) }
        insert(object, for: resource, identity: identity, lifetime: lifetime)
    }

    private func prepared(
        _ identity: ResourceIdentity, by prepare: RequestHooks.Prepare
    ) async throws -> ResourceIdentity {
        let request = try await loader.prepared(identity.request, by: prepare)
        return ResourceIdentity(request, cacheKey: identity.cacheKey)
    }

    /// The hook that prepares requests. Nil while it runs, because it could otherwise call itself for ever.
    private var hookThatPrepares: RequestHooks.Prepare? { loader.hooks(in: HookCall.current)?.prepare }

    private func insert<R: Resource>(
        _ object: R.ParsedObject, for resource: R, identity: ResourceIdentity, lifetime: TimeInterval
    ) {
        guard identity.memoryCachePolicy != nil, let key = resource.objectKey(identity),
            let url = identity.request.url
        else { return }
        let now = time.now
        let expires = lifetime < .infinity ? now.addingTimeInterval(lifetime) : .distantFuture
        let cost = resource.cost(of: object, size: 0)
        let loaded = LoadedObject(
            object: object, cost: cost, bodyChecksum: nil,
            head: ResponseHead(url: url, status: 200, fields: HTTPFields()), freshUntil: expires, trace: LoadTrace())
        memory.insert(loaded, for: key, cost: cost, expires: expires, now: now)
    }

    /// Removes a resource's object from memory and its response from the cache: later loads ask the server. The same applies to
    /// its smaller version (``Resource/lowDataURL``). If the resource has a ``CacheKey``, the responses to all bodies at its URL are
    /// removed.
    ///
    /// The target of a redirect is removed too, if the object in memory came through it. A load in flight continues for its
    /// subscribers. No load coalesces with it any more, and its response is not kept. Never blocks.
    ///
    /// With ``Configuration/prepare``, the resource's own URLs are invalidated at once. If the hook changes a URL, the other
    /// URL is invalidated when the hook has returned.
    public func invalidate<R: Resource>(_ resource: R) {
        let full = resource.identity.settingDefault(defaultPolicy)
        let small = resource.lowDataURL.flatMap { $0 == full.request.url ? nil : full.moved(to: $0) }
        for request in [full, small].compactMap({ $0?.request }) {
            invalidate(request)
            guard let prepare = hookThatPrepares else { continue }
            Task {
                guard let prepared = try? await loader.prepared(request, by: prepare),
                    prepared.cacheKey != request.cacheKey
                else { return }
                invalidate(prepared)
            }
        }
    }

    private func invalidate(_ request: URLRequest) {
        let dropped = memory.take(of: Set([request.cacheKey].compactMap { $0 }))
        let requests = [request] + Set(dropped.compactMap(\.trace.redirects.last)).map { URLRequest(url: $0) }
        fetcher.removeStoredSoon(for: requests)
        loader.invalidate(Set(requests.compactMap(\.cacheKey)))
    }

    /// Removes all parsed objects from memory; stored responses stay.
    public func removeAllObjects() {
        memory.removeAll()
    }

    /// Removes all parsed objects from memory and all stored responses, as after a log-out. Blocks on the disk: do not call it
    /// on the main thread.
    ///
    /// Loads in flight continue for their subscribers. No load coalesces with them any more, and their responses are not kept.
    /// Cookies and credentials of the session stay: the guide “Authentication” shows how to remove them.
    ///
    /// If other synchronizers share the cache, it does not store the responses to their loads in flight either. But those
    /// synchronizers keep their objects in memory, and their later loads may coalesce with their loads in flight.
    public func removeAll() {
        loader.invalidateAll()  // what a hook returns from now on may be for the old user
        memory.removeAll()
        fetcher.removeAllStored()
        // Once more after the removal, because until then the store could still answer loads. Their objects are not kept either.
        loader.invalidateAll()
        memory.removeAll()
    }

    /// The object in memory if the request's cache policy allows it; notes its use.
    func recall<R: Resource>(_ resource: R, identity: ResourceIdentity) -> LoadedObject? {
        guard let known = known(resource, identity: identity) else { return nil }
        if isObserved || known.run.isPrefetched {
            noteUse(of: known, identity: identity.coalescingKey) { identity.request.url }
        }
        return known
    }

    /// The object in memory if the request's cache policy allows it.
    func known<R: Resource>(_ resource: R, identity: ResourceIdentity) -> LoadedObject? {
        guard !preparesRequests, let use = identity.memoryCachePolicy, let key = resource.objectKey(identity) else {
            return nil
        }
        return memory.answer(for: key, policy: use, at: freshnessClock.now, network: network)
    }

    /// Notes that an object in memory answers a load.
    @inline(never)  // rarely called, from code where each nanosecond counts
    func noteUse(of known: LoadedObject, identity: CoalescingKey?, url: () -> URL?) {
        if known.run.isPrefetched, let identity { prefetcher.noteUse(of: identity) }
        if let observer {
            let now = time.now
            let source = known.sourceFromMemory(at: now, isOffline: network.isOffline)
            observer.synchronizerDid(SynchronizerEvent(load: nil, url: url(), kind: .cached(source), date: now))
        }
    }
}

extension Loader.Memory {
    /// The memory of a synchronizer.
    init(_ memory: MemoryCache<ObjectKey, LoadedObject>, time: any TimeSource, network: NetworkSwitch) {
        recall = { memory.value(for: $0, now: time.now, anyAge: true) }
        remember = { key, loaded in
            let now = time.now
            // An older response may arrive later, and so may the end of its parse.
            let isNewer = { (old: LoadedObject) in old.order.isNewer(than: loaded.order, at: now) }
            if loaded.mayBeKept(at: now) {
                let expires = now < loaded.freshUntil ? loaded.freshUntil : .distantPast
                memory.insert(loaded, for: key, cost: loaded.cost, expires: expires, now: now, unless: isNewer)
            } else {
                memory.remove(key, unless: isNewer)  // an older object must not outlive this one
            }
        }
        forgetObject = { key, loaded in memory.remove(key, unless: { $0 !== loaded }) }
        forget = { _ = memory.take(of: $0) }
        forgetOutdated = { $0.forgetOutdated(in: memory, at: time.now) }
        known = { job, now in
            guard let key = job.objectKey, let use = job.identity?.memoryCachePolicy else { return nil }
            return memory.answer(for: key, policy: use, at: now, network: network)
        }
    }
}

extension MemoryCache where Key == ObjectKey, Value == LoadedObject {
    /// Removes and returns the objects with these cache keys, and those whose responses came through redirects to them.
    fileprivate func take(of keys: Set<String>) -> [LoadedObject] {
        take { keys.contains($0.identity.cacheKey) || $1.redirectKeys.contains(where: keys.contains) }
    }
}
