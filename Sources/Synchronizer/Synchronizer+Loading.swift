import Foundation

extension Synchronizer {
    func job<R: Resource>(for resource: R, _ request: URLRequest, _ priority: LoadPriority) -> LoadJob {
        LoadJob(
            resource, request: request, priority: priority, maximumBodySize: configuration.maximumResponseSize)
    }

    /// Joins or begins a load. `receive` is called once, on a background thread, unless the subscription leaves.
    func enter<Completion: Sendable>(
        _ job: LoadJob, _ subscription: Subscription<Completion>,
        receive: @escaping @Sendable (Loader.Outcome) -> Void
    ) {
        let mayRecall = MemoryUse(job.request)
        let ticket = loader.load(
            job,
            recall: { [memory, time = configuration.time] key in
                mayRecall.flatMap { memory.value(for: key, now: time.now, anyAge: $0 == .ofAnyAge) }
            },
            receive: receive)
        switch ticket {
        case .known(let loaded): receive(.success(loaded.fromMemory))
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
        LoadedObject(object: object, cost: cost, head: head, freshUntil: freshUntil, trace: traceFromMemory)
    }
}
