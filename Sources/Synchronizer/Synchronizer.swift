import Foundation

/// Loads resources over HTTP through the platform's own `URLCache`: images, JSON, anything that bytes can be made into.
///
/// ```swift
/// let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60)
/// let cancel = synchronizer.loadResource(ImageResource(url: url)) { result in
///     if case .success(let image) = result { imageView.image = image }
/// }
/// ```
///
/// A synchronizer may be used from any thread. Keep it: it owns a `URLSession`, the parsed objects in memory, and the
/// order in which things are loaded. Loads of the same resource share one request and one parse.
public final class Synchronizer: Sendable {
    /// What the synchronizer was made with.
    public let configuration: Configuration
    let loader: Loader
    let prefetcher: Prefetcher
    let memory: MemoryCache<ObjectKey, LoadedObject>
    let fetcher: any Fetching
    let time: any TimeSource
    let freshnessClock: FreshnessClock
    /// The cache policy of requests that set none.
    let defaultPolicy: URLRequest.CachePolicy
    let observer: (any SynchronizerObserver)?
    /// Whether there is an observer, in a byte of its own: it is asked with each look into the memory.
    let isObserved: Bool
    private let stopListening: CancelLoading

    /// A synchronizer for the whole program, with the default configuration: nothing is injected, and responses are
    /// stored in ``Configuration/defaultURLCache``.
    public static let shared = Synchronizer()

    /// A synchronizer that gives responses without a lifetime of their own one of `cacheTime` seconds.
    ///
    /// - Parameters:
    ///   - cacheTime: seconds; nil leaves responses as they are. See ``SessionDelegate``.
    ///   - urlCache: where responses are stored; nil stores none.
    public convenience init(cacheTime: TimeInterval? = nil, urlCache: URLCache? = Configuration.defaultURLCache) {
        self.init(configuration: Configuration(cacheTime: cacheTime, urlCache: urlCache))
    }

    /// A synchronizer made to measure.
    public convenience init(configuration: Configuration) {
        self.init(configuration: configuration, fetcher: configuration.makeFetcher())
    }

    /// A synchronizer over a fetcher of its own.
    init(configuration: Configuration, fetcher: any Fetching) {
        self.configuration = configuration
        defaultPolicy = configuration.sessionConfiguration.requestCachePolicy
        let memory = MemoryCache<ObjectKey, LoadedObject>(
            limits: .init(
                cost: configuration.memoryCapacity, preferredCost: configuration.preferredMemoryUsage,
                count: configuration.memoryCountLimit, age: configuration.memoryAgeLimit))
        let time = configuration.time
        self.memory = memory
        self.time = time
        freshnessClock = FreshnessClock(time)
        let observer = Signposts.observer(before: configuration.observer)
        self.observer = observer
        isObserved = observer != nil
        self.fetcher = fetcher
        loader = Loader(
            fetcher: fetcher, time: time, limits: configuration.limits,
            newestFirst: configuration.schedule == .newestFirst, grace: configuration.grace, retry: configuration.retry,
            timeLimit: configuration.timeoutForLoad,
            memory: Loader.Memory(
                recall: { memory.value(for: $0, now: time.now, anyAge: true) },
                remember: { key, loaded in
                    let now = time.now
                    let isFresh = now < loaded.freshUntil
                    if !loaded.isForThisLoadOnly, isFresh || loaded.isStored {
                        let expires = isFresh ? loaded.freshUntil : .distantPast
                        memory.insert(loaded, for: key, cost: loaded.cost, expires: expires, now: now)
                    } else {
                        memory.remove(key)  // an older object must not outlive this one
                    }
                },
                forgetObject: { memory.remove($0) },
                forget: { keys in memory.remove { keys.contains($0.identity.cacheKey) } }), observer: observer)
        prefetcher = Prefetcher(loader: loader) { job in
            guard let key = job.objectKey, let use = job.identity?.memoryUse else { return nil }
            return memory.value(for: key, now: time.now, anyAge: use == .ofAnyAge)
        }
        stopListening = MemoryPressure.system.listen { [weak memory] in memory?.purge() }
    }

    deinit {
        stopListening()
    }
}
