import Foundation

extension Synchronizer {
    /// Loads a resource.
    ///
    /// Cancelling the task cancels the load at once. Resumes in the caller's isolation.
    ///
    /// - Parameters:
    ///   - resource: the resource to load.
    ///   - priority: the urgency of the load; by default it follows the priority of the task.
    /// - Throws: a ``SynchronizerError``, the error of a hook, or `CancellationError` if the task is cancelled.
    nonisolated(nonsending)
        public func load<R: Resource>(_ resource: R, priority: LoadPriority? = nil) async throws -> R.ParsedObject
    {
        try Task.checkCancellation()
        let identity = identity(of: resource)
        if let known = recall(resource, identity: identity) { return try known.object(of: R.self) }
        return try await begin(resource, identity: identity, priority: priority).0
    }

    /// Loads a resource, and says where it came from and why.
    ///
    /// As ``load(_:priority:)``, but the result also has the server's response and the trace of the load.
    nonisolated(nonsending)
        public func loaded<R: Resource>(
            _ resource: R, priority: LoadPriority? = nil
        ) async throws -> Loaded<R.ParsedObject>
    {
        try Task.checkCancellation()
        let identity = identity(of: resource)
        if let known = recall(resource, identity: identity) {
            let object = try known.object(of: R.self)
            let trace = known.traceFromMemory(at: time.now, isOffline: network.isOffline)
            return Loaded(object: object, head: known.head, trace: trace)
        }
        let (object, loaded) = try await begin(resource, identity: identity, priority: priority)
        return Loaded(object: object, head: loaded.head, trace: loaded.trace)
    }

    nonisolated(nonsending)
        private func begin<R: Resource>(
            _ resource: R, identity: ResourceIdentity, priority: LoadPriority?
        ) async throws -> (R.ParsedObject, LoadedObject)
    {
        let result = try await result(of: job(for: resource, identity: identity, priority: priority ?? .current))
        let loaded = try result.mapError(\.unwrapped).get()
        return (try loaded.object(of: R.self), loaded)
    }

    private func leave(_ id: LoadReceiver.ID, continuation: UnsafeContinuation<LoadResult, any Error>) {
        if loader.leave(id) { continuation.resume(throwing: CancellationError()) }
    }

    nonisolated(nonsending)
        private func result(of job: LoadJob) async throws -> LoadResult
    {
        // An actor must not wait for the disk, and no task can be cancelled while it verifies a large file.
        let mayBlock = !isOnActor() && job.options.file == nil
        let state = Locked(AwaitedLoad.beginning)
        return try await withTaskCancellationHandler {
            // `Loader.take` succeeds once, so a checked continuation would check the same again.
            try await withUnsafeThrowingContinuation {
                (continuation: UnsafeContinuation<LoadResult, any Error>) in
                if state.withLock({ $0.isCancelled }) {
                    return continuation.resume(throwing: CancellationError())
                }
                let receiver = LoadReceiver { [loader] step in
                    guard case .finished(let id, let result) = step, loader.take(id) else { return }
                    // If the task was cancelled while `enter` was still in the cache, `onCancel` found no receiver to cancel.
                    if state.withLock({ $0.isCancelled }) {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        continuation.resume(returning: result)
                    }
                }
                let id = enter(job, mayBlock: mayBlock, receiver: receiver)
                let isCancelled = state.withLock { state in
                    if !state.isCancelled { state = .begun(id, continuation) }
                    return state.isCancelled
                }
                if isCancelled { leave(id, continuation: continuation) }
            }
        } onCancel: {
            let before = state.withLock { state in
                defer { state = .cancelled }
                return state
            }
            if case .begun(let id, let continuation) = before { leave(id, continuation: continuation) }
        }
    }
}

/// A load that a task waits for.
private enum AwaitedLoad: Sendable {
    case beginning
    case begun(LoadReceiver.ID, UnsafeContinuation<LoadResult, any Error>)
    case cancelled

    var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}

/// Whether the caller is isolated to an actor.
private func isOnActor(_ isolation: isolated (any Actor)? = #isolation) -> Bool {
    isolation != nil
}

extension LoadPriority {
    /// The priority that corresponds to that of the current task.
    static var current: LoadPriority {
        switch Task.currentPriority {
        case .userInitiated, .high: return .high
        case .background: return .veryLow
        case .utility, .low: return .low
        default: return .normal
        }
    }
}
