import Foundation

extension Synchronizer {
    /// The request to send for a resource, and its key. Each load gets the identity once and passes it on, because by default
    /// this calls ``Resource/request()``.
    func identity<R: Resource>(of resource: R) -> ResourceIdentity { completed(resource.identity, of: resource) }

    /// The identity with the configuration applied: its default cache policy, and the ``Resource/lowDataURL`` if loads use it.
    @inline(__always)  // each memory hit comes here
    func completed<R: Resource>(_ identity: ResourceIdentity, of resource: R) -> ResourceIdentity {
        completesIdentities ? completing(identity, with: resource.lowDataURL) : identity
    }

    @inline(never)
    private func completing(_ identity: ResourceIdentity, with lowDataURL: URL?) -> ResourceIdentity {
        guard usesLowDataURLs, let lowDataURL else { return identity.settingDefault(defaultPolicy) }
        return identity.moved(to: lowDataURL).settingDefault(defaultPolicy)
    }

    func job<R: Resource>(
        for resource: R, identity: ResourceIdentity, priority: LoadPriority, keepsObject: Bool = true
    ) -> LoadJob {
        let file = FileTarget(of: resource)
        // A key with NaN would not be equal to itself.
        let cacheTime = (resource.cacheTime ?? defaultCacheTime).flatMap { $0.isNaN ? nil : $0 }
        return LoadJob(
            resource, identity: identity, priority: priority,
            options: FetchOptions(
                maximumBodySize: resource.maximumSize ?? configuration.maximumResponseSize,
                sessionCookies: fetcher.sessionCookies(for: identity.request), file: file,
                cacheTime: cacheTime),
            keepsObject: keepsObject && file?.destination == nil)
    }

    /// Coalesces with a load, or begins one. If the object is in memory after all, the receiver gets it at once.
    func enter(_ job: LoadJob, mayBlock: Bool = false, receiver: LoadReceiver) -> LoadReceiver.ID {
        if let identity = job.identity { prefetcher.noteUse(of: identity) }
        let use = job.identity?.memoryCachePolicy
        let now = time.now
        let ticket = loader.load(
            job,
            unless: { key in use.flatMap { memory.answer(for: key, policy: $0, at: now, network: network) } },
            mayBlock: mayBlock, receiver: receiver)
        switch ticket {
        case .known(let loaded):
            noteUse(of: loaded, identity: job.identity) { job.request.url }
            return loader.answer(receiver, with: loaded.fromMemory(at: now, isOffline: network.isOffline))
        case .waiting(let id): return id
        }
    }
}

extension LoadedObject {
    /// The object as the type of the resource. Throws if it has another type, which is a defect: the type is part of the key.
    ///
    /// Compares the types and then casts unsafely, which takes half as long as a dynamic cast: `CastRows` in
    /// `Benchmarks/Sources/bench-loading` measures both (`Scripts/bench --only loading --rows memory`).
    func object<R: Resource>(of type: R.Type) throws -> R.ParsedObject {
        func value<Object>(_ object: Object) throws -> R.ParsedObject {
            guard Object.self == R.ParsedObject.self else { return try cast(to: type) }
            return unsafeBitCast(object, to: R.ParsedObject.self)
        }
        return try _openExistential(object, do: value)
    }

    /// Casts dynamically, because `ParsedObject` may be a protocol type: then each object has a type of its own.
    @inline(never)
    private func cast<R: Resource>(to type: R.Type) throws -> R.ParsedObject {
        guard let object = object as? R.ParsedObject else { throw mismatch }
        return object
    }

    var mismatch: SynchronizerError {
        .undecodable(CocoaError(.coderReadCorrupt), .init(url: head.urlResponse.url, trace: trace))
    }
}
