import Foundation

extension Synchronizer {
    /// How far a prefetch brings a resource.
    public enum PrefetchDestination: Sendable {
        /// Parsed, into memory: it is there at once when asked for.
        case memory
        /// Its response into the URL cache, and no further.
        case disk
    }

    /// Loads resources that are likely to be asked for soon, in this order, behind all that is visible.
    ///
    /// A prefetched resource that somebody asks for while it waits or loads takes that priority at once. Prefetching
    /// measures how much of it is used (``prefetchStatistics``), and does less at a time while most is wasted.
    ///
    /// - Returns: what cancels those that are not loaded yet.
    @discardableResult
    public func prefetch<R: Resource>(
        _ resources: some Sequence<R>, priority: LoadPriority = .low, to destination: PrefetchDestination = .memory
    ) -> CancelLoading {
        let jobs = resources.compactMap { resource -> LoadJob? in
            let identity = identity(of: resource)
            guard identity.sharing != nil, known(resource, identity) == nil else { return nil }
            switch destination {
            case .memory: return job(for: resource, identity, priority)
            case .disk: return job(for: StoringOnly(resource, identity), identity, priority, keepsObject: false)
            }
        }
        return prefetcher.prefetch(jobs)
    }

    /// What prefetching has brought so far.
    public var prefetchStatistics: PrefetchStatistics { prefetcher.statistics }
}

/// A resource that is stored and not parsed.
private struct StoringOnly: Resource {
    let identity: ResourceIdentity
    let maximumSize: Int?

    /// Shares its request with whoever loads the resource itself.
    init(_ resource: some Resource, _ identity: ResourceIdentity) {
        self.identity = identity
        maximumSize = resource.maximumSize
    }

    func request() -> URLRequest { identity.request }

    var parse: @Sendable (Data) throws -> Bool { { _ in true } }

    static var parsesQuickly: Bool { true }
}
