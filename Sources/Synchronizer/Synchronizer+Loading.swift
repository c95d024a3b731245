import Foundation

extension Synchronizer {
    /// The request to send for a resource, and its key. Calls ``Resource/request()``, so it is created once for each load, and
    /// passed on.
    func identity<R: Resource>(of resource: R) -> ResourceIdentity { completed(resource.identity, of: resource) }

    /// The identity with what the configuration says: the default policy, and the URL of the smaller version.
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
        return LoadJob(
            resource, identity: identity, priority: priority,
            options: FetchOptions(
                maximumBodySize: resource.maximumSize ?? configuration.maximumResponseSize,
                sessionCookies: fetcher.sessionCookies(for: identity.request), file: file,
                cacheTime: resource.cacheTime),
            keepsObject: keepsObject && file?.destination == nil)
    }

    /// Coalesces with a load, or begins one. If the object is in memory after all, the receiver gets it at once.
    func enter(_ job: LoadJob, mayBlock: Bool = false, receiver: LoadReceiver) -> LoadReceiver.ID {
        if let identity = job.identity { prefetcher.asked(for: identity) }
        let use = job.identity?.memoryCachePolicy
        let now = time.now
        let ticket = loader.load(
            job,
            unless: { key in use.flatMap { memory.answer(for: key, policy: $0, at: now, network: network) } },
            mayBlock: mayBlock, receiver: receiver)
        switch ticket {
        case .known(let loaded):
            noteUse(of: loaded, identity: job.identity) { job.request.url }
            return loader.answer(receiver, with: loaded.fromMemory(at: now))
        case .waiting(let id): return id
        }
    }
}

extension LoadedObject {
    /// The object, whose type is part of its key. Throws if the type is another one, which is a defect.
    ///
    /// The types are compared, and the cast is unsafe. With a dynamic cast, `loadResource` takes 3.2 times as long as a lock and
    /// a dictionary instead of 2.9 times, and `cachedObject(for:)` 1.9 times instead of 1.4 times. `CastRows` in
    /// `Benchmarks/Sources/bench-loading` measures both casts (`Scripts/bench --only loading --rows memory`).
    func object<R: Resource>(of type: R.Type) throws -> R.ParsedObject {
        func value<Object>(_ object: Object) throws -> R.ParsedObject {
            guard Object.self == R.ParsedObject.self else { return try cast(to: type) }
            return unsafeBitCast(object, to: R.ParsedObject.self)
        }
        return try _openExistential(object, do: value)
    }

    /// For a protocol type, whose objects have types of their own.
    @inline(never)
    private func cast<R: Resource>(to type: R.Type) throws -> R.ParsedObject {
        guard let object = object as? R.ParsedObject else { throw mismatch }
        return object
    }

    var mismatch: SynchronizerError {
        .undecodable(CocoaError(.coderReadCorrupt), .init(url: head.urlResponse.url, trace: trace))
    }
}
