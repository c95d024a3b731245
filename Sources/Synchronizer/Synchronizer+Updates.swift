import Foundation

extension Synchronizer {
    /// Loads a resource in two phases: first the stored object, even if it is stale, then the server's.
    ///
    /// If the stored object is fresh, it is the only update. If the server confirms the stored response with 304, or
    /// sends the same bytes, the last update has the very same object, with phase ``ResourceUpdate/Phase/unchanged``. If no server
    /// has confirmed a stale object, but it may be used, the last update has the phase ``ResourceUpdate/Phase/stale``. A
    /// ``FileResource`` or ``StreamingResource`` shows no stale object, unless that is in memory. Ending the iteration cancels.
    ///
    /// - Throws: a ``SynchronizerError``, or the error of a hook, if the server's response could not be loaded,
    ///   possibly after the stored object.
    public func updates<R: Resource>(
        of resource: R, priority: LoadPriority = .normal
    ) -> AsyncThrowingStream<ResourceUpdate<R.ParsedObject>, any Error> {
        AsyncThrowingStream { continuation in
            let cancel = follow(resource, identity: identity(of: resource), priority: priority) { step in
                switch step {
                case .success(let update):
                    continuation.yield(update)
                    if update.phase.isLast { continuation.finish() }
                case .failure(let error):
                    continuation.finish(throwing: error.unwrapped)
                }
            }
            continuation.onTermination = { _ in cancel() }
        }
    }

    /// Works like ``updates(of:priority:)``, but calls `update` on the main actor. If you call this on the main actor, an object in
    /// memory is passed before this method returns. An error is the last step.
    @discardableResult
    public func followResource<R: Resource>(
        _ resource: R, priority: LoadPriority = .normal,
        update: @escaping @MainActor (Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>) -> Void
    ) -> CancelLoading {
        followResource(resource, identity: identity(of: resource), priority: priority, update: update)
    }

    /// As ``followResource(_:priority:update:)``, for a caller that has the identity already.
    package func followResource<R: Resource>(
        _ resource: R, identity: ResourceIdentity, priority: LoadPriority = .normal,
        update: @escaping @MainActor (Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>) -> Void
    ) -> CancelLoading {
        let isStarting = Locked(MainQueue.isCurrent)
        let isCancelled = Locked(false)
        let identity = completed(identity, of: resource)
        let cancel = follow(resource, identity: identity, priority: priority) { step in
            if MainQueue.isCurrent, isStarting.withLock({ $0 }) {
                MainActor.assumeIsolated { update(step) }
                return
            }
            DispatchQueue.main.async {
                if isCancelled.withLock({ $0 }) { return }
                MainActor.assumeIsolated { update(step) }
            }
        }
        isStarting.withLock { $0 = false }
        return {
            isCancelled.withLock { $0 = true }
            cancel()
        }
    }

    private func follow<R: Resource>(
        _ resource: R, identity: ResourceIdentity, priority: LoadPriority,
        step: @escaping @Sendable (Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>) -> Void
    ) -> CancelLoading {
        let job = job(for: resource, identity: identity, priority: priority)
        let steps = UpdateSteps<R>(step)
        if !preparesRequests, show(job, steps: steps) { return {} }
        let subscription = Locked(Subscription())
        subscribe(job, steps: steps, subscription: subscription)
        return { [loader] in
            steps.stop()
            if let id = subscription.withLock({ $0.cancel() }) { loader.leave(id) }
        }
    }

    /// Shows the object in memory, if it may be shown. Returns whether it is the last step.
    ///
    /// - Parameter ifStale: shows no object that would be the last step, because the load delivers that one.
    private func show<R: Resource>(_ job: LoadJob, steps: UpdateSteps<R>, ifStale: Bool = false) -> Bool {
        let now = time.now
        guard let use = job.identity?.memoryCachePolicy, let key = job.objectKey else { return false }
        let fresh = memory.value(for: key, now: now)
        guard let known = fresh ?? memory.value(for: key, now: now, anyAge: true) else { return false }
        let isLast = fresh != nil || use == .ofAnyAge || network.isOffline
        if isLast, ifStale { return false }
        if isLast || known.mayBeShownStale {
            noteUse(of: known, identity: job.identity) { job.request.url }
            steps.show(known.fromMemory(at: now, isOffline: network.isOffline), isLast: isLast)
        }
        return isLast
    }

    /// Subscribes to the load. If the result is stale and being revalidated in the background, subscribes once more, for the result
    /// of the revalidation.
    private func subscribe<R: Resource>(
        _ job: LoadJob, steps: UpdateSteps<R>, subscription: Locked<Subscription>
    ) {
        guard let round = subscription.withLock({ $0.beginRound() }) else { return }
        let sent = Locked(job)
        let receiver = LoadReceiver(job.hasPreviews ? [.stored, .previews] : .stored) { [self] step in
            switch step {
            case .progressed, .joined: break
            case .prepared(let job):
                sent.withLock { $0 = job }
                _ = show(job, steps: steps, ifStale: true)
            case .stored(let loaded): steps.show(loaded, isLast: false)
            case .previewed(let object, let head): steps.preview(object, head: head)
            case .finished(let id, let result):
                guard loader.take(id) else { return }
                guard case .success(let loaded) = result, loaded.isBeingRevalidated, !job.options.awaitsRefresh else {
                    return steps.end(with: result)
                }
                steps.show(loaded, isLast: false)
                subscribe(sent.withLock { $0 }.awaitingRefresh, steps: steps, subscription: subscription)
            }
        }
        let id = enter(job, receiver: receiver)
        if subscription.withLock({ $0.note(id, in: round) }) { loader.leave(id) }
    }
}

/// The current receiver of a caller that follows a resource. There are up to two rounds: one receiver for the load, and one for
/// the revalidation.
private struct Subscription {
    private var round = 0
    private var subscriber: LoadReceiver.ID?
    private var isCancelled = false

    /// The number of the round; nil once the caller has cancelled.
    mutating func beginRound() -> Int? {
        round += 1
        return isCancelled ? nil : round
    }

    /// Notes the receiver. Returns whether it must be cancelled, because the caller has already cancelled.
    mutating func note(_ id: LoadReceiver.ID, in round: Int) -> Bool {
        if round == self.round { subscriber = id }  // otherwise the receiver has its result already
        return isCancelled
    }

    /// Returns the receiver to cancel, if there is one.
    mutating func cancel() -> LoadReceiver.ID? {
        isCancelled = true
        return subscriber
    }
}

/// Turns the steps of a load into the updates of one caller: in order, one at a time, none twice, and none after the last one
/// or after `stop`.
final class UpdateSteps<R: Resource>: Sendable {
    typealias Step = Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>

    private struct State {
        var shown: LoadedObject.Run?
        var isOver = false
        var waiting: [Step] = []
        /// Whether a thread is calling the caller's closure.
        var isGiving = false
    }

    private let state = Locked(State())
    private let step: @Sendable (Step) -> Void

    init(_ step: @escaping @Sendable (Step) -> Void) {
        self.step = step
    }

    func stop() {
        let dropped = state.withLock { state in
            defer { state.waiting = [] }
            state.isOver = true
            return state.waiting
        }
        withExtendedLifetime(dropped) {}
    }

    /// Shows an object that is available already, unless it has been shown.
    func show(_ loaded: LoadedObject, isLast: Bool) {
        add { state in
            guard state.shown !== loaded.run else { return nil }
            state.shown = loaded.run
            state.isOver = isLast
            return Self.step(loaded, phase: isLast ? Self.lastPhase(of: loaded) : .stored(age: loaded.trace.age))
        }
    }

    func preview(_ object: any Sendable, head: ResponseHead) {
        guard let object = object as? R.ParsedObject else { return }
        var trace = LoadTrace()
        trace.source = .network
        trace.reason = "the body is still arriving"
        let update = ResourceUpdate(phase: .preview, loaded: Loaded(object: object, head: head, trace: trace))
        add { _ in .success(update) }
    }

    /// Gives the result, which is the last step.
    func end(with result: LoadResult) {
        add { state in
            state.isOver = true
            switch result {
            case .success(let loaded):
                return Self.step(loaded, phase: Self.lastPhase(of: loaded, isShown: state.shown === loaded.run))
            case .failure(let error): return .failure(error)
            }
        }
    }

    /// - Parameter isShown: whether an earlier step had the same object.
    private static func lastPhase(
        of loaded: LoadedObject, isShown: Bool = false
    ) -> ResourceUpdate<R.ParsedObject>.Phase {
        if loaded.trace.source == .stale { return .stale }
        return isShown ? .unchanged : .fresh
    }

    private static func step(_ loaded: LoadedObject, phase: ResourceUpdate<R.ParsedObject>.Phase) -> Step {
        guard let object = try? loaded.object(of: R.self) else { return .failure(loaded.mismatch) }
        return .success(
            ResourceUpdate(phase: phase, loaded: Loaded(object: object, head: loaded.head, trace: loaded.trace)))
    }

    /// Queues a step unless the last one was queued, and empties the queue unless another thread is doing so.
    private func add(_ make: (inout State) -> Step?) {
        state.withLock { state in
            guard !state.isOver, let step = make(&state) else { return }
            state.waiting.append(step)
        }
        while let next = takeNext() {
            step(next)
            state.withLock { $0.isGiving = false }
        }
    }

    private func takeNext() -> Step? {
        state.withLock { state in
            guard !state.isGiving, !state.waiting.isEmpty else { return nil }
            state.isGiving = true
            return state.waiting.removeFirst()
        }
    }
}
