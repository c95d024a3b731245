import Foundation

extension Synchronizer {
    /// Loads a resource in two phases: what is stored at once, even stale; then what the server has.
    ///
    /// A fresh object comes alone. When the server confirms the stored one with 304, or sends the same bytes, the last
    /// update has the very same object, marked ``ResourceUpdate/Phase/unchanged``. Ending the iteration cancels.
    ///
    /// - Throws: a ``SynchronizerError`` if the server could not be asked, possibly after a stored object was given.
    public func updates<R: Resource>(
        of resource: R, priority: LoadPriority = .normal
    ) -> AsyncThrowingStream<ResourceUpdate<R.ParsedObject>, any Error> {
        AsyncThrowingStream { continuation in
            let cancel = follow(resource, identity(of: resource), priority) { step in
                switch step {
                case .success(let update):
                    continuation.yield(update)
                    if update.phase.isLast { continuation.finish() }
                case .failure(let error):
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in cancel() }
        }
    }

    /// As ``updates(of:priority:)``, answered on the main actor; an object in memory is given before this returns, if
    /// this is called on the main actor. An error is the last step.
    @discardableResult
    public func followResource<R: Resource>(
        _ resource: R, priority: LoadPriority = .normal,
        update: @escaping @MainActor (Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>) -> Void
    ) -> CancelLoading {
        followResource(resource, identity(of: resource), priority: priority, update: update)
    }

    /// As ``followResource(_:priority:update:)``, for a caller that has asked for the identity already.
    package func followResource<R: Resource>(
        _ resource: R, _ identity: ResourceIdentity, priority: LoadPriority = .normal,
        update: @escaping @MainActor (Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>) -> Void
    ) -> CancelLoading {
        let isStarting = Locked(MainQueue.isCurrent)
        let isCancelled = Locked(false)
        let cancel = follow(resource, identity.settingDefault(defaultPolicy), priority) { step in
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
        _ resource: R, _ identity: ResourceIdentity, _ priority: LoadPriority,
        step: @escaping @Sendable (Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>) -> Void
    ) -> CancelLoading {
        let job = job(for: resource, identity, priority)
        let steps = UpdateSteps<R>(step)
        let now = time.now
        if identity.memoryUse != nil, let key = job.objectKey,
            let known = memory.value(for: key, now: now, anyAge: true)
        {
            let isFresh = now < known.freshUntil
            let isLast = isFresh || job.identity?.memoryUse == .ofAnyAge
            if isLast || known.mayBeShownStale {
                noteUse(of: known, job.identity) { job.request.url }
                steps.show(known.fromMemory(at: now), isLast: isLast)
            }
            if isLast { return {} }
        }
        let place = Locked(Place())
        ask(job, steps, place)
        return { [loader] in
            steps.stop()
            if let id = place.withLock({ $0.leave() }) { loader.leave(id) }
        }
    }

    /// Asks; a second time for what the revalidation brings, if the answer is stale while it is revalidated.
    private func ask<R: Resource>(_ job: LoadJob, _ steps: UpdateSteps<R>, _ place: Locked<Place>) {
        guard let round = place.withLock({ $0.beginRound() }) else { return }
        var watching = LoadReceiver.Watching(stored: { steps.show($0, isLast: false) })
        if job.hasPreviews { watching.previewed = { steps.preview($0, $1) } }
        let receiver = LoadReceiver(watching: watching) { [self] id, outcome in
            guard loader.take(id) else { return }
            if case .success(let loaded) = outcome, loaded.isBeingRevalidated, !job.options.awaitsRefresh {
                steps.show(loaded, isLast: false)
                ask(job.awaitingRefresh, steps, place)
            } else {
                steps.end(outcome)
            }
        }
        let id = enter(job, receiver)
        if place.withLock({ $0.join(as: id, in: round) }) { loader.leave(id) }
    }
}

/// Where somebody who follows a resource waits, in one round of asking after the other.
private struct Place {
    private var round = 0
    private var subscriber: LoadReceiver.ID?
    private var hasLeft = false

    /// The number of the round; nil once the caller has left.
    mutating func beginRound() -> Int? {
        round += 1
        return hasLeft ? nil : round
    }

    /// Notes the place; whether it is to be left, because the caller has left meanwhile.
    mutating func join(as id: LoadReceiver.ID, in round: Int) -> Bool {
        if round == self.round { subscriber = id }  // else it has been answered already
        return hasLeft
    }

    /// The place to leave, if there is one.
    mutating func leave() -> LoadReceiver.ID? {
        hasLeft = true
        return subscriber
    }
}

extension LoadedObject {
    /// Whether it is stale, and nobody has asked the server before answering with it.
    fileprivate var isBeingRevalidated: Bool {
        trace.source == .stale && trace.status == nil && trace.validators.isEmpty
    }
}

extension ResourceUpdate.Phase {
    var isLast: Bool {
        switch self {
        case .stored, .preview: false
        case .fresh, .unchanged: true
        }
    }
}

/// Turns what the loader tells into the steps of one caller: in order, one at a time, none twice, and none after the
/// last one or after `stop`.
final class UpdateSteps<R: Resource>: Sendable {
    typealias Step = Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>

    private struct State {
        var shown: LoadedObject.Run?
        var isOver = false
        var waiting: [Step] = []
        /// Whether some thread is giving steps to the caller.
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

    /// Something that is there already. What has been shown is not shown again.
    func show(_ loaded: LoadedObject, isLast: Bool) {
        add { state in
            guard state.shown !== loaded.run else { return nil }
            state.shown = loaded.run
            state.isOver = isLast
            return Self.step(loaded, isLast ? .fresh : .stored(age: loaded.trace.age))
        }
    }

    func preview(_ object: any Sendable, _ head: ResponseHead) {
        guard let object = object as? R.ParsedObject else { return }
        var trace = LoadTrace()
        trace.source = .network
        trace.reason = "the body is still arriving"
        let update = ResourceUpdate(phase: .preview, loaded: Loaded(object: object, head: head, trace: trace))
        add { _ in .success(update) }
    }

    /// The answer, which is the last step.
    func end(_ outcome: Loader.Outcome) {
        add { state in
            state.isOver = true
            switch outcome {
            case .success(let loaded): return Self.step(loaded, state.shown === loaded.run ? .unchanged : .fresh)
            case .failure(let error): return .failure(error)
            }
        }
    }

    private static func step(_ loaded: LoadedObject, _ phase: ResourceUpdate<R.ParsedObject>.Phase) -> Step {
        guard let object = try? loaded.object(of: R.self) else { return .failure(loaded.mismatch) }
        return .success(
            ResourceUpdate(phase: phase, loaded: Loaded(object: object, head: loaded.head, trace: loaded.trace)))
    }

    /// Adds a step, unless it was over before; whoever finds nobody giving steps gives them.
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
