import Foundation

extension Synchronizer {
    /// Loads a resource and answers on the main actor.
    ///
    /// The completion is called once, or never if the load is cancelled before. If the object is in memory and fresh,
    /// and this is called on the main actor, it is called before this returns: a recycled cell does not flicker.
    ///
    /// - Parameters:
    ///   - resource: what to load.
    ///   - priority: how urgent it is. A load in flight that is asked for again takes the higher priority.
    ///   - completion: given the object, or ``SynchronizerResult/error(_:)`` with a ``SynchronizerError``.
    /// - Returns: what cancels the load, from any thread.
    @discardableResult
    public func loadResource<R: Resource>(
        _ resource: R, priority: LoadPriority = .normal,
        completion: @escaping @MainActor (SynchronizerResult<R.ParsedObject>) -> Void
    ) -> CancelLoading {
        loadResource(resource, identity(of: resource), priority: priority, completion: completion)
    }

    /// As ``loadResource(_:priority:completion:)``, for a caller that has asked for the identity already.
    package func loadResource<R: Resource>(
        _ resource: R, _ identity: ResourceIdentity, priority: LoadPriority = .normal,
        completion: @escaping @MainActor (SynchronizerResult<R.ParsedObject>) -> Void
    ) -> CancelLoading {
        let identity = identity.settingDefault(defaultPolicy)
        if MainQueue.isCurrent, let known = recall(resource, identity) {
            MainQueue.call(completion, with: known.result(of: R.self))
            return {}
        }
        let loader = loader
        return begin(resource, identity, priority) { id, outcome in
            let result = SynchronizerResult(outcome, of: R.self)
            DispatchQueue.main.async {
                MainActor.assumeIsolated { if loader.take(id) { completion(result) } }
            }
        }
    }

    /// Loads a resource and answers on a queue.
    ///
    /// As ``loadResource(_:priority:completion:)``, but the completion is always called later, on the queue.
    @discardableResult
    public func loadResource<R: Resource>(
        _ resource: R, priority: LoadPriority = .normal, on queue: DispatchQueue,
        completion: @escaping @Sendable (SynchronizerResult<R.ParsedObject>) -> Void
    ) -> CancelLoading {
        let loader = loader
        return begin(resource, identity(of: resource), priority) { id, outcome in
            let result = SynchronizerResult(outcome, of: R.self)
            queue.async { if loader.take(id) { completion(result) } }
        }
    }

    /// Loads a resource, answers on the main actor, and gives a handle to watch and to steer the load by.
    ///
    /// As ``loadResource(_:priority:completion:)`` otherwise.
    public func startLoading<R: Resource>(
        _ resource: R, priority: LoadPriority = .normal,
        completion: @escaping @MainActor (SynchronizerResult<R.ParsedObject>) -> Void
    ) -> LoadTask {
        let task = LoadTask(priority: priority)
        let identity = identity(of: resource)
        if MainQueue.isCurrent, let known = recall(resource, identity) {
            task.finish()
            MainQueue.call(completion, with: known.result(of: R.self))
            return task
        }
        let loader = loader
        let receiver = LoadReceiver(watching: .init(progressed: { task.note($0) })) { id, outcome in
            let result = SynchronizerResult(outcome, of: R.self)
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    guard loader.take(id) else { return }
                    task.finish()
                    completion(result)
                }
            }
        }
        let id = enter(job(for: resource, identity, priority), receiver)
        task.attach(.init(cancel: { loader.leave(id) }, setPriority: { loader.setPriority($0, of: id) }))
        return task
    }

    /// `answer` asks for the right to answer where the completion is to run, so that a cancel until then prevails.
    private func begin<R: Resource>(
        _ resource: R, _ identity: ResourceIdentity, _ priority: LoadPriority,
        answer: @escaping @Sendable (LoadReceiver.ID, Loader.Outcome) -> Void
    ) -> CancelLoading {
        let id = enter(job(for: resource, identity, priority), LoadReceiver(finished: answer))
        return { [loader] in loader.leave(id) }
    }
}

extension SynchronizerResult where Object: Sendable {
    fileprivate init<R: Resource>(_ outcome: Loader.Outcome, of type: R.Type) where R.ParsedObject == Object {
        switch outcome {
        case .success(let loaded):
            self = loaded.result(of: type)
        case .failure(.emptyBody):
            self = .noData
        case .failure(let error):
            self = .error(error)
        }
    }
}

extension LoadedObject {
    @inline(__always)  // so that the type of the result is looked for once
    fileprivate func result<R: Resource>(of type: R.Type) -> SynchronizerResult<R.ParsedObject> {
        do {
            return .success(try object(of: type))
        } catch {
            return .error(error)
        }
    }
}
