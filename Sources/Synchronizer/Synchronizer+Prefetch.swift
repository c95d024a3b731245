import Foundation

extension Synchronizer {
    /// Where a prefetch puts a resource.
    public enum PrefetchDestination: Sendable {
        /// Parsed, into memory: loads get it at once.
        case memory
        /// Its response into the URL cache only.
        case disk
    }

    /// Loads resources that will probably be needed soon, in this order, after all visible loads.
    ///
    /// If you load a resource while its prefetch waits or runs, the prefetch gets the load's priority at once. Prefetching
    /// measures how much of it is used (``prefetchStatistics``), and runs fewer prefetches at a time while most are wasted.
    ///
    /// - Returns: a closure that cancels those that have not finished.
    @discardableResult
    public func prefetch<R: Resource>(
        _ resources: some Sequence<R>, priority: LoadPriority = .low, to destination: PrefetchDestination = .memory
    ) -> CancelLoading {
        let jobs = resources.compactMap { resource -> LoadJob? in
            let identity = identity(of: resource)
            guard identity.sharing != nil, known(resource, identity: identity) == nil else { return nil }
            switch destination {
            case .memory: return job(for: resource, identity: identity, priority: priority)
            case .disk:
                let stored = StoringOnly(resource, identity: identity)
                return job(for: stored, identity: identity, priority: priority, keepsObject: false)
            }
        }
        return prefetcher.prefetch(jobs)
    }

    /// The number of prefetched resources that were used, and that were wasted.
    public var prefetchStatistics: PrefetchStatistics { prefetcher.statistics }
}

/// A resource whose response is stored and not parsed.
private struct StoringOnly: Resource {
    let identity: ResourceIdentity
    let maximumSize: Int?

    /// Coalesces with loads of the resource itself.
    init(_ resource: some Resource, identity: ResourceIdentity) {
        self.identity = identity
        maximumSize = resource.maximumSize
    }

    func request() -> URLRequest { identity.request }

    var parse: @Sendable (Data) throws -> Bool { { _ in true } }

    static var parsesQuickly: Bool { true }
}
