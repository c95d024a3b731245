import Foundation

/// Loads resources over HTTP, and caches them in a `URLCache`: images, JSON, or anything that can be parsed from bytes.
///
/// ```swift
/// let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60)
/// let cancel = synchronizer.loadResource(ImageResource(url: url)) { result in
///     if case .success(let image) = result { imageView.image = image }
/// }
/// ```
///
/// You can use a synchronizer from any thread. Keep it: it owns a `URLSession`, the parsed objects in memory, and the queue of
/// loads. Loads of the same resource share one request and one parse.
public final class Synchronizer: Sendable {
    /// The configuration with which the synchronizer was created.
    public let configuration: Configuration
    let loader: Loader
    let prefetcher: Prefetcher
    let memory: MemoryCache<ObjectKey, LoadedObject>
    let fetcher: any Fetching
    let network: NetworkSwitch
    let time: any TimeSource
    let freshnessClock: FreshnessClock
    /// The cache policy of requests that do not set one.
    let defaultPolicy: URLRequest.CachePolicy
    let observer: (any SynchronizerObserver)?
    /// Whether there is an observer. A separate `Bool`, because each memory lookup reads it.
    let isObserved: Bool
    let usesLowDataURLs: Bool
    /// The lifetime for resources that have none, unless the delegate has one.
    let defaultCacheTime: TimeInterval?
    /// Whether the configuration changes the identities of resources. Computed once, because each memory lookup reads it.
    let completesIdentities: Bool
    /// Whether a hook prepares requests. If so, the keys of a request are unknown until the hook has returned.
    let preparesRequests: Bool
    private let stopListening: CancelLoading

    /// A synchronizer for the whole program, with the default configuration: it injects no lifetime, and stores responses in
    /// ``Configuration/defaultURLCache``.
    public static let shared = Synchronizer()

    /// Creates a synchronizer that caches successful responses for `cacheTime` seconds if they have neither
    /// `Cache-Control` nor `Expires`.
    ///
    /// - Parameters:
    ///   - cacheTime: seconds; nil injects no lifetime. See ``Configuration/cacheTime``.
    ///   - urlCache: the cache for responses; nil stores none.
    public convenience init(cacheTime: TimeInterval? = nil, urlCache: URLCache? = Configuration.defaultURLCache) {
        self.init(configuration: Configuration(cacheTime: cacheTime, urlCache: urlCache))
    }

    /// Creates a synchronizer with the given configuration.
    public convenience init(configuration: Configuration) {
        let network = NetworkSwitch()
        self.init(configuration: configuration, fetcher: configuration.makeFetcher(network), network: network)
    }

    /// Creates a synchronizer in managed mode that sends its requests through the given transport instead of a `URLSession`.
    package convenience init(
        configuration: Configuration, over makeTransport: (URLSessionConfiguration) -> any Transport
    ) {
        let network = NetworkSwitch()
        let fetcher = withoutActuallyEscaping(makeTransport) { configuration.makeFetcher(network, over: $0) }
        self.init(configuration: configuration, fetcher: fetcher, network: network)
    }

    /// Creates a synchronizer with the given fetcher, which must not use the network while `network` is offline.
    init(configuration: Configuration, fetcher: any Fetching, network: NetworkSwitch = NetworkSwitch()) {
        self.configuration = configuration
        self.network = network
        defaultPolicy = configuration.sessionConfiguration.requestCachePolicy
        let memory = MemoryCache<ObjectKey, LoadedObject>(
            limits: .init(
                cost: configuration.memoryCapacity, preferredCost: configuration.preferredMemoryUsage,
                count: configuration.memoryCountLimit, age: configuration.memoryAgeLimit),
            group: { $0.identity.urlHash })
        let time = configuration.time
        self.memory = memory
        self.time = time
        freshnessClock = FreshnessClock(time)
        let observer = Signposts.observer(before: configuration.observer)
        self.observer = observer
        isObserved = observer != nil
        usesLowDataURLs = configuration.usesLowDataURLs
        defaultCacheTime = configuration.defaultCacheTime
        completesIdentities =
            configuration.usesLowDataURLs
            || configuration.sessionConfiguration.requestCachePolicy != .useProtocolCachePolicy
        preparesRequests = configuration.prepare != nil
        let loaderMemory = Loader.Memory(memory, time: time, network: network)
        self.fetcher = fetcher
        loader = Loader(
            fetcher: fetcher, time: time, limits: configuration.limits,
            newestFirst: configuration.schedule == .newestFirst, gracePeriod: configuration.cancellationGracePeriod,
            retry: configuration.retry,
            timeLimit: configuration.timeoutForLoad, derivedObjects: configuration.derivedObjects,
            memory: loaderMemory,
            hooks: configuration.hooks, isOffline: { network.isOffline }, observer: observer)
        network.whenOffline { [weak loader] in loader?.endBackOffs() }
        prefetcher = Prefetcher(loader: loader) { loaderMemory.known($0, time.now) }
        let stopListening = MemoryPressure.system.listen { [weak memory] in memory?.purge() }
        // Objects must not stay in memory after another process or machine has removed or replaced their response.
        let stopHearing = (configuration.urlCache as? any AnnouncingStore)?.onChange {
            [weak memory, weak loader] change in
            switch change {
            case .changed(let url): loader?.forgetObjects(of: url)
            case .removed(let url): loader?.invalidate([url])
            case .removedAll:
                // Memory comes last, because a parse that ends before the invalidation still keeps its object.
                loader?.invalidateAll()
                memory?.removeAll()
            }
        }
        self.stopListening = {
            stopListening()
            stopHearing?()
        }
    }

    deinit {
        stopListening()
    }
}
