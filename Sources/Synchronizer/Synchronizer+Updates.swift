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
            let cancel = follow(resource, priority) { step in
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
        let isStarting = Locked(MainQueue.isCurrent)
        let isCancelled = Locked(false)
        let cancel = follow(resource, priority) { step in
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
        _ resource: R, _ priority: LoadPriority,
        step: @escaping @Sendable (Result<ResourceUpdate<R.ParsedObject>, SynchronizerError>) -> Void
    ) -> CancelLoading {
        let request = resource.request()
        var job = job(for: resource, request, priority)
        if let resource = resource as? any ProgressiveResource { job.makePreview = { resource.makePreview() } }
        let steps = UpdateSteps<R>(step)
        let now = time.now
        if resource.identity.memoryUse != nil, let key = job.objectKey,
            let known = memory.value(for: key, now: now, anyAge: true)
        {
            let isFresh = now < known.freshUntil
            let isLast = isFresh || job.memoryUse == .ofAnyAge
            if isLast || known.mayBeShownStale {
                noteUse(of: known, job.identity) { request.url }
                steps.show(known.fromMemory(at: now), isLast: isLast)
            }
            if isLast { return {} }
        }
        let leaving = Locked<CancelLoading?>({})
        ask(job, steps, leaving)
        return {
            steps.stop()
            leaving.withLock { leaving in
                defer { leaving = nil }
                return leaving
            }?()
        }
    }

    /// Asks; a second time for what the revalidation brings, if the answer is stale while it is revalidated.
    /// `leaving` holds what ends the load at hand, and nil once the caller has left.
    private func ask<R: Resource>(_ job: LoadJob, _ steps: UpdateSteps<R>, _ leaving: Locked<CancelLoading?>) {
        let subscription = Subscription((), loader: loader)
        let isLeft = leaving.withLock { leaving in
            guard leaving != nil else { return true }
            leaving = { subscription.cancel() }
            return false
        }
        if isLeft { return }
        var receiver = LoadReceiver { outcome in
            guard subscription.take() != nil else { return }
            if case .success(let loaded) = outcome, loaded.isBeingRevalidated, !job.options.awaitsRefresh {
                steps.show(loaded, isLast: false)
                var next = job
                next.options.awaitsRefresh = true
                self.ask(next, steps, leaving)
            } else {
                steps.end(outcome)
            }
        }
        receiver.stored = { steps.show($0, isLast: false) }
        if job.makePreview != nil { receiver.previewed = { steps.preview($0, $1) } }
        enter(job, subscription, receiver)
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

extension ProgressiveResource {
    /// A previewer with its types erased.
    fileprivate func makePreview() -> PreviewRun.Preview {
        let previewer = makePreviewer()
        return { previewer.preview(of: $0) }
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
        guard let object = loaded.object(of: R.self) else { return .failure(loaded.mismatch) }
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
