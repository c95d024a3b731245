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
    /// ```swift
    /// let prefetch = synchronizer.prefetch(photos)
    /// let result = await prefetch.result
    /// print("\(result.loaded) loaded, \(result.failures.count) failed")
    /// ```
    ///
    /// - Parameters:
    ///   - resources: what to load. Resources whose requests are never coalesced are skipped.
    ///   - priority: how urgent the loads are; ``PrefetchTask/priority`` changes it.
    ///   - destination: whether to parse the responses into memory, or only store them.
    /// - Returns: the prefetch, to observe, cancel or await. You may ignore it.
    @discardableResult
    public func prefetch<R: Resource>(
        _ resources: some Sequence<R>, priority: LoadPriority = .low, to destination: PrefetchDestination = .memory
    ) -> PrefetchTask {
        prefetch(identified: resources.map { ($0, $0.identity) }, priority: priority, to: destination)
    }

    /// As ``prefetch(_:priority:to:)``, for a caller that has the identities already.
    package func prefetch<R: Resource>(
        identified resources: [(R, ResourceIdentity)], priority: LoadPriority = .low,
        to destination: PrefetchDestination = .memory
    ) -> PrefetchTask {
        var outcomes: [PrefetchResult.Outcome?] = []
        var jobs: [(index: Int, job: LoadJob)] = []
        for (index, (resource, identity)) in resources.enumerated() {
            let identity = completed(identity, of: resource)
            if identity.coalescingKey == nil {
                outcomes.append(.skipped)
            } else if destination == .memory, known(resource, identity: identity) != nil {
                outcomes.append(.alreadyCached)
            } else {
                outcomes.append(nil)
                jobs.append(
                    (index, prefetchJob(for: resource, identity: identity, priority: priority, to: destination)))
            }
        }
        let group = prefetcher.makeGroup()
        let task = PrefetchTask(
            outcomes: outcomes, priority: priority,
            control: .init(
                cancel: { [weak prefetcher] in prefetcher?.cancel(group) },
                setPriority: { [weak prefetcher] in prefetcher?.setPriority($0, of: group) }))
        prefetcher.prefetch(jobs, in: group, priority: priority) { [weak self] index, job, result in
            task.note(
                PrefetchResult.Outcome(result) { self?.hasKept($0, of: job) == true }, at: index)
        }
        return task
    }

    /// Whether memory answers loads with the object of a load that has just ended. It may be evicted at any time.
    private func hasKept(_ loaded: LoadedObject, of job: LoadJob) -> Bool {
        job.memoryKey != nil && !loaded.isForThisLoadOnly && time.now < loaded.freshUntil
            && loaded.cost <= configuration.memoryCapacity && configuration.memoryCountLimit > 0
    }

    private func prefetchJob<R: Resource>(
        for resource: R, identity: ResourceIdentity, priority: LoadPriority, to destination: PrefetchDestination
    ) -> LoadJob {
        switch destination {
        case .memory: return job(for: resource, identity: identity, priority: priority)
        case .disk:
            let stored = StoringOnly(resource, identity: identity)
            return job(for: stored, identity: identity, priority: priority, keepsObject: false)
        }
    }

    /// The number of prefetched resources that were used, and that were wasted.
    public var prefetchStatistics: PrefetchStatistics { prefetcher.statistics }
}

extension PrefetchResult.Outcome {
    /// - Parameters:
    ///   - result: nil if the prefetch was cancelled.
    ///   - isInMemory: whether memory has kept the object, so that loads get it although its response was not stored.
    fileprivate init(_ result: LoadResult?, isInMemory: (LoadedObject) -> Bool) {
        switch result {
        case .success(let loaded)?:
            let trace = loaded.trace
            if let reason = trace.unstored, reason == .invalidated || !isInMemory(loaded) {
                self = .notStored(reason)
            } else if let source = trace.source, [.memory, .cache, .stale].contains(source), trace.status == nil {
                self = .alreadyCached
            } else {
                self = .loaded
            }
        case .failure(let error)?: self = .failed(error.unwrapped)
        case nil: self = .cancelled
        }
    }
}

extension LoadTrace {
    /// Why a response of the load was not stored: the last one, or a redirect to it. Nil if all were stored, or came from the cache.
    fileprivate var unstored: ResponseStoring.Reason? {
        if case .notStored(let reason)? = storing { return reason }
        return unstoredRedirect
    }
}

/// A resource whose response is stored and not parsed.
struct StoringOnly: SpooledResource {
    let identity: ResourceIdentity
    let maximumSize: Int?
    /// Without a destination: nothing is delivered, so the folder of the resource's file need not exist.
    let target: FileTarget?
    let cacheTime: TimeInterval?
    /// Loads of the resource avoid constrained networks if it has one, and so does this.
    let lowDataURL: URL?

    /// Coalesces with loads of the resource itself.
    init(_ resource: some Resource, identity: ResourceIdentity) {
        self.identity = identity
        maximumSize = resource.maximumSize
        target = FileTarget(of: resource)?.withoutDestination
        cacheTime = resource.cacheTime
        lowDataURL = resource.lowDataURL
    }

    func request() -> URLRequest { identity.request }

    var parse: @Sendable (Data) throws -> Bool { { _ in true } }

    func object(from body: StoredBytes) -> Bool {
        body.drop()
        return true
    }

    static var parsesQuickly: Bool { true }

    static var acceptsEmptyBody: Bool { true }
}
