import Foundation

extension Synchronizer {
    /// The parsed object, if it is in memory and may be used: never blocks, never loads.
    public func cachedObject<R: Resource>(for resource: R) -> R.ParsedObject? {
        recall(resource, resource.request())?.object(of: R.self)
    }

    /// Drops a resource's object from memory, and its response from the store.
    ///
    /// The object is gone when this returns, the response soon after. A load in flight goes on.
    public func invalidate<R: Resource>(_ resource: R) {
        let request = resource.request()
        if let identity = RequestIdentity(request) {
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
    func recall<R: Resource>(_ resource: R, _ request: URLRequest) -> LoadedObject? {
        guard let use = MemoryUse(request), let identity = RequestIdentity(request) else { return nil }
        let key = ObjectKey(identity: identity, type: ObjectIdentifier(R.self), variant: resource.variant)
        let known = memory.value(for: key, now: configuration.time.now, anyAge: use == .ofAnyAge)
        if let known, known.run.isPrefetched { prefetcher.asked(for: identity) }
        if known != nil, let observer = configuration.observer {
            observer.synchronizerDid(
                SynchronizerEvent(
                    load: nil, url: request.url, kind: .cached(.memory), date: configuration.time.now))
        }
        return known
    }
}

/// Whether a request may be answered with an object from memory.
enum MemoryUse {
    case whileFresh
    /// The cache policy takes what is there, whatever its age.
    case ofAnyAge

    /// Nil if the answer has to be judged, or fetched, anew.
    init?(_ request: URLRequest) {
        switch request.cachePolicy {
        case .useProtocolCachePolicy: self = .whileFresh
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad: self = .ofAnyAge
        default: return nil
        }
        if let fields = request.allHTTPHeaderFields, fields.keys.contains(where: RequestIdentity.callsForJudgement) {
            return nil
        }
    }
}
