import Foundation

extension Synchronizer {
    /// Loads a resource and calls the completion on the main actor.
    ///
    /// The completion is called once, or never if you cancel the load before. If the object is in memory and fresh, and you
    /// call this on the main actor, the completion runs before this method returns: a recycled cell does not flicker.
    ///
    /// - Parameters:
    ///   - resource: what to load.
    ///   - priority: how urgent the load is. Coalesced loads have the highest of their priorities.
    ///   - completion: gets the object, ``SynchronizerResult/noData``, or ``SynchronizerResult/error(_:)`` with a
    ///     ``SynchronizerError`` or the error of a hook.
    /// - Returns: a closure that cancels the load, from any thread.
    @discardableResult
    public func loadResource<R: Resource>(
        _ resource: R, priority: LoadPriority = .normal,
        completion: @escaping @MainActor (SynchronizerResult<R.ParsedObject>) -> Void
    ) -> CancelLoading {
        loadResource(resource, identity: identity(of: resource), priority: priority, completion: completion)
    }

    /// As ``loadResource(_:priority:completion:)``, for a caller that has the identity already.
    package func loadResource<R: Resource>(
        _ resource: R, identity: ResourceIdentity, priority: LoadPriority = .normal,
        completion: @escaping @MainActor (SynchronizerResult<R.ParsedObject>) -> Void
    ) -> CancelLoading {
        let identity = completed(identity, of: resource)
        if MainQueue.isCurrent, let known = recall(resource, identity: identity) {
            MainQueue.call(completion, with: known.result(of: R.self))
            return {}
        }
        let loader = loader
        return begin(resource, identity: identity, priority: priority) { step in
            guard case .finished(let id, let outcome) = step else { return }
            let result = SynchronizerResult(outcome, of: R.self)
            DispatchQueue.main.async {
                MainActor.assumeIsolated { if loader.take(id) { completion(result) } }
            }
        }
    }

    /// Loads a resource and calls the completion on a queue.
    ///
    /// Works like ``loadResource(_:priority:completion:)``, but the completion always runs later, on the queue.
    @discardableResult
    public func loadResource<R: Resource>(
        _ resource: R, priority: LoadPriority = .normal, on queue: DispatchQueue,
        completion: @escaping @Sendable (SynchronizerResult<R.ParsedObject>) -> Void
    ) -> CancelLoading {
        let loader = loader
        return begin(resource, identity: identity(of: resource), priority: priority) { step in
            guard case .finished(let id, let outcome) = step else { return }
            let result = SynchronizerResult(outcome, of: R.self)
            queue.async { if loader.take(id) { completion(result) } }
        }
    }

    /// Loads a resource, calls the completion on the main actor, and returns a task to observe and control the load.
    ///
    /// Otherwise it works like ``loadResource(_:priority:completion:)``.
    public func startLoading<R: Resource>(
        _ resource: R, priority: LoadPriority = .normal,
        completion: @escaping @MainActor (SynchronizerResult<R.ParsedObject>) -> Void
    ) -> LoadTask {
        let task = LoadTask(priority: priority)
        let identity = identity(of: resource)
        if MainQueue.isCurrent, let known = recall(resource, identity: identity) {
            task.finish()
            MainQueue.call(completion, with: known.result(of: R.self))
            return task
        }
        let loader = loader
        let receiver = LoadReceiver(.progress) { step in
            if case .progressed(let progress) = step { task.note(progress) }
            if case .joined(let progress) = step { task.join(progress) }
            guard case .finished(let id, let outcome) = step else { return }
            if case .success(let loaded) = outcome, let progress = task.progress.ended(with: loaded.trace) {
                task.note(progress)
            }
            let result = SynchronizerResult(outcome, of: R.self)
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    guard loader.take(id) else { return }
                    task.finish()
                    completion(result)
                }
            }
        }
        let id = enter(job(for: resource, identity: identity, priority: priority), receiver: receiver)
        task.attach(.init(cancel: { loader.leave(id) }, setPriority: { loader.setPriority($0, of: [id]) }))
        return task
    }

    /// `receive` calls `Loader.take` right before the completion, on its thread. After a cancellation `take` returns false, and
    /// the completion is not called.
    private func begin<R: Resource>(
        _ resource: R, identity: ResourceIdentity, priority: LoadPriority,
        receive: @escaping @Sendable (LoadStep) -> Void
    ) -> CancelLoading {
        // The receiver gets `receive` itself: a closure around it would take 48 bytes more for each waiting load.
        let receiver = LoadReceiver(receive: receive)
        let id = enter(job(for: resource, identity: identity, priority: priority), receiver: receiver)
        return { [loader] in loader.leave(id) }
    }
}

extension SynchronizerResult where Object: Sendable {
    fileprivate init<R: Resource>(_ outcome: LoadResult, of type: R.Type) where R.ParsedObject == Object {
        switch outcome {
        case .success(let loaded):
            self = loaded.result(of: type)
        case .failure(.noData):
            self = .noData
        case .failure(let error):
            self = .error(error.unwrapped)
        }
    }
}

extension LoadedObject {
    @inline(__always)  // so that the type metadata of the result is looked up only once
    fileprivate func result<R: Resource>(of type: R.Type) -> SynchronizerResult<R.ParsedObject> {
        do {
            return .success(try object(of: type))
        } catch {
            return .error(error)
        }
    }
}

extension MainQueue {
    /// Calls a function of the main actor; the caller has checked ``isCurrent``.
    ///
    /// `assumeIsolated` would check again, and take twice as long. The difference is a sixth of a memory hit: `CastRows` in
    /// `Benchmarks/Sources/bench-loading` measures both calls (`Scripts/bench --only loading --rows memory`).
    fileprivate static func call<Value>(_ completion: @escaping @MainActor (Value) -> Void, with value: Value) {
        assert(isCurrent)
        // An isolated function differs from an ordinary one in its type only; `assumeIsolated` does the same.
        unsafeBitCast(completion, to: ((Value) -> Void).self)(value)
    }
}
