import Foundation

extension Synchronizer {
    func job<R: Resource>(
        for resource: R, _ request: URLRequest, _ priority: LoadPriority, keepsObject: Bool = true
    ) -> LoadJob {
        LoadJob(
            resource, request: request, priority: priority,
            options: FetchOptions(
                maximumBodySize: resource.maximumSize ?? configuration.maximumResponseSize,
                sessionCookies: fetcher.sessionCookies(for: request)),
            keepsObject: keepsObject)
    }

    /// Joins or begins a load; an object that is in memory after all is given to the receiver at once.
    func enter(_ job: LoadJob, mayBlock: Bool = false, _ receiver: LoadReceiver) -> LoadReceiver.ID {
        if let identity = job.identity { prefetcher.asked(for: identity) }
        let use = job.identity?.memoryUse
        let now = time.now
        let ticket = loader.load(
            job,
            unless: { key in use.flatMap { memory.value(for: key, now: now, anyAge: $0 == .ofAnyAge) } },
            mayBlock: mayBlock, receiver: receiver)
        switch ticket {
        case .known(let loaded):
            noteUse(of: loaded, job.identity) { job.request.url }
            return loader.answer(receiver, with: loaded.fromMemory(at: now))
        case .waiting(let id): return id
        }
    }
}

extension LoadedObject {
    /// The object, which is of this type: the type is part of what loads share by.
    func object<R: Resource>(of type: R.Type) -> R.ParsedObject? {
        // A dynamic cast would take a tenth of the time of a hit in memory, to find out that the types are the same.
        func value<Object>(_ object: Object) -> R.ParsedObject? {
            Object.self == R.ParsedObject.self
                ? unsafeBitCast(object, to: R.ParsedObject.self) : object as? R.ParsedObject
        }
        return _openExistential(object, do: value)
    }

    /// What is reported should that ever not hold.
    var mismatch: SynchronizerError {
        .undecodable(CocoaError(.coderReadCorrupt), .init(url: head.urlResponse.url, trace: trace))
    }

    /// The trace of a load that this object answered from memory. Its response is as old as its lifetime, less what is
    /// left of that.
    func traceFromMemory(at now: Date) -> LoadTrace {
        var trace = LoadTrace()
        trace.source = .memory
        trace.reason = "the parsed object was there"
        trace.lifetime = self.trace.lifetime
        trace.lifetimeRule = self.trace.lifetimeRule
        if let lifetime = trace.lifetime, freshUntil != .distantPast, freshUntil != .distantFuture {
            trace.age = max(0, lifetime - freshUntil.timeIntervalSince(now))
        }
        return trace
    }

    func fromMemory(at now: Date) -> LoadedObject {
        LoadedObject(
            object: object, cost: cost, run: run, bodyDigest: bodyDigest, head: head, freshUntil: freshUntil,
            trace: traceFromMemory(at: now))
    }
}
