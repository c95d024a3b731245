import Foundation

extension Synchronizer {
    func job<R: Resource>(for resource: R, _ request: URLRequest, _ priority: LoadPriority) -> LoadJob {
        LoadJob(
            resource, request: request, priority: priority,
            maximumBodySize: resource.maximumSize ?? configuration.maximumResponseSize)
    }

    /// Joins or begins a load; an object that is in memory after all is given to the receiver at once.
    func enter<Completion: Sendable>(
        _ job: LoadJob, _ subscription: Subscription<Completion>, mayBlock: Bool = false, _ receiver: LoadReceiver
    ) {
        if let identity = job.identity { prefetcher.asked(for: identity) }
        let use = job.memoryUse
        let now = configuration.time.now
        let ticket = loader.load(
            job,
            unless: { key in use.flatMap { memory.value(for: key, now: now, anyAge: $0 == .ofAnyAge) } },
            mayBlock: mayBlock, receiver: receiver)
        switch ticket {
        case .known(let loaded): receiver.finished(.success(loaded.fromMemory))
        case .waiting(let subscriber): subscription.joined(as: subscriber)
        }
    }
}

extension LoadedObject {
    /// The object, which is of this type: the type is part of what loads share by.
    func object<R: Resource>(of type: R.Type) -> R.ParsedObject? {
        object as? R.ParsedObject
    }

    /// What is reported should that ever not hold.
    var mismatch: SynchronizerError {
        .undecodable(CocoaError(.coderReadCorrupt), .init(url: head.urlResponse.url, trace: trace))
    }

    /// The trace of a load that this object answered from memory.
    var traceFromMemory: LoadTrace {
        var trace = LoadTrace()
        trace.source = .memory
        trace.reason = "in memory"
        trace.lifetime = self.trace.lifetime
        trace.lifetimeRule = self.trace.lifetimeRule
        return trace
    }

    var fromMemory: LoadedObject {
        LoadedObject(
            object: object, cost: cost, run: run, head: head, freshUntil: freshUntil, trace: traceFromMemory)
    }
}
