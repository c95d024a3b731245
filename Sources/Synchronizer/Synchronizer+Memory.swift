import Foundation

extension Synchronizer {
    /// The parsed object, if it is in memory and may be used: never blocks, never loads.
    public func cachedObject<R: Resource>(for resource: R) -> R.ParsedObject? {
        recall(resource)?.object(of: R.self)
    }

    /// Drops a resource's object from memory, and its response from the store.
    ///
    /// The object is gone when this returns, the response soon after. A load in flight goes on.
    public func invalidate<R: Resource>(_ resource: R) {
        let request = resource.request()
        if let identity = resource.identity.request {
            memory.remove { $0.identity == identity }
        }
        let fetcher = fetcher
        DispatchQueue.global(qos: .utility).async { fetcher.removeStored(for: request) }
    }

    /// Drops all parsed objects from memory; what is stored stays.
    public func removeAllObjects() {
        memory.removeAll()
    }

    /// Drops all parsed objects from memory, and all stored responses. Blocks on the disk: not for the main thread.
    public func removeAll() {
        memory.removeAll()
        fetcher.removeAllStored()
    }

    /// The object in memory, if the request's cache policy lets it be used.
    func recall<R: Resource>(_ resource: R) -> LoadedObject? {
        let identity = resource.identity
        guard let use = identity.memoryUse, let request = identity.request else { return nil }
        let key = ObjectKey(identity: request, type: ObjectIdentifier(R.self), variant: resource.variant)
        let known = memory.value(for: key, now: configuration.time.now, anyAge: use == .ofAnyAge)
        if let known, known.run.isPrefetched { prefetcher.asked(for: request) }
        if known != nil, let observer = configuration.observer {
            let url = resource.request().url
            observer.synchronizerDid(
                SynchronizerEvent(load: nil, url: url, kind: .cached(.memory), date: configuration.time.now))
        }
        return known
    }
}
