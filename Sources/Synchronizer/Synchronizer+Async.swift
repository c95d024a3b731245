import Foundation

extension Synchronizer {
    /// Loads a resource.
    ///
    /// Cancelling the task cancels the load at once. Resumes wherever it was awaited.
    ///
    /// - Parameters:
    ///   - resource: the resource to load.
    ///   - priority: the urgency of the load; by default it follows the priority of the task.
    /// - Throws: a ``SynchronizerError``, or `CancellationError` if the task is cancelled.
    nonisolated(nonsending)
        public func load<R: Resource>(_ resource: R, priority: LoadPriority? = nil) async throws -> R.ParsedObject
    {
        try Task.checkCancellation()
        let identity = identity(of: resource)
        if let known = recall(resource, identity) { return try known.object(of: R.self) }
        return try await begun(resource, identity, priority).0
    }

    /// Loads a resource and tells where it came from, and why.
    ///
    /// As ``load(_:priority:)``; the result has the server's response and the trace of the load beside the object.
    nonisolated(nonsending)
        public func loaded<R: Resource>(
            _ resource: R, priority: LoadPriority? = nil
        ) async throws -> Loaded<R.ParsedObject>
    {
        try Task.checkCancellation()
        let identity = identity(of: resource)
        if let known = recall(resource, identity) {
            let object = try known.object(of: R.self)
            return Loaded(object: object, head: known.head, trace: known.traceFromMemory(at: time.now))
        }
        let (object, loaded) = try await begun(resource, identity, priority)
        return Loaded(object: object, head: loaded.head, trace: loaded.trace)
    }

    nonisolated(nonsending)
        private func begun<R: Resource>(
            _ resource: R, _ identity: ResourceIdentity, _ priority: LoadPriority?
        ) async throws -> (R.ParsedObject, LoadedObject)
    {
        let loaded = try await outcome(of: job(for: resource, identity, priority ?? .current)).get()
        return (try loaded.object(of: R.self), loaded)
    }

    nonisolated(nonsending)
        private func outcome(of job: LoadJob) async throws -> Loader.Outcome
    {
        let mayBlock = !isOnActor()  // an actor is not to wait for the disk
        let leaving = Locked<(isCancelled: Bool, leave: CancelLoading?)>((false, nil))
        return try await withTaskCancellationHandler {
            // The right to answer is given out once; a checked continuation would count that a second time.
            try await withUnsafeThrowingContinuation {
                (continuation: UnsafeContinuation<Loader.Outcome, any Error>) in
                if leaving.withLock({ $0.isCancelled }) {
                    return continuation.resume(throwing: CancellationError())
                }
                let receiver = LoadReceiver { [loader] id, outcome in
                    guard loader.take(id) else { return }
                    // Whoever was cancelled while this thread was in the cache has had no place to leave.
                    if leaving.withLock({ $0.isCancelled }) {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        continuation.resume(returning: outcome)
                    }
                }
                let id = enter(job, mayBlock: mayBlock, receiver)
                let leave: CancelLoading = { [loader] in
                    if loader.leave(id) { continuation.resume(throwing: CancellationError()) }
                }
                let isCancelled = leaving.withLock { leaving in
                    leaving.leave = leave
                    return leaving.isCancelled
                }
                if isCancelled { leave() }
            }
        } onCancel: {
            let leave = leaving.withLock { leaving in
                leaving.isCancelled = true
                return leaving.leave
            }
            leave?()
        }
    }
}

/// Whether the caller is isolated to an actor.
private func isOnActor(_ isolation: isolated (any Actor)? = #isolation) -> Bool {
    isolation != nil
}

extension LoadPriority {
    /// What the priority of the task at hand corresponds to.
    static var current: LoadPriority {
        switch Task.currentPriority {
        case .userInitiated, .high: return .high
        case .background: return .veryLow
        case .utility, .low: return .low
        default: return .normal
        }
    }
}
