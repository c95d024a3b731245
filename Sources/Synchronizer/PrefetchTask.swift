import Foundation

/// A prefetch to observe, re-prioritize, cancel and await, from any thread: the result of
/// ``Synchronizer/prefetch(_:priority:to:)``.
///
/// ```swift
/// let prefetch = synchronizer.prefetch(photos)
/// for await progress in prefetch.progressUpdates { show(progress.fraction) }
/// for failure in await prefetch.result.failures { print(failure.index, failure.error) }
/// ```
///
/// The prefetch continues if you release the task.
public final class PrefetchTask: Sendable {
    /// The task's actions in the prefetcher.
    struct Control: Sendable {
        let cancel: CancelLoading
        let setPriority: @Sendable (LoadPriority) -> Void
    }

    private struct State {
        var priority: LoadPriority
        /// Nil for the resources that have not finished.
        var outcomes: [PrefetchResult.Outcome?]
        var progress: PrefetchProgress
        var watchers: [Int: AsyncStream<PrefetchProgress>.Continuation] = [:]
        var lastWatcher = 0
        var waiting: [CheckedContinuation<PrefetchResult, Never>] = []

        /// Nil until all resources have finished.
        var result: PrefetchResult? {
            progress.isFinished ? PrefetchResult(outcomes: outcomes.compactMap { $0 }) : nil
        }
    }

    private let state: Locked<State>
    private let control: Control

    /// - Parameter outcomes: the outcomes of the resources that need no load; nil for the others.
    init(outcomes: [PrefetchResult.Outcome?], priority: LoadPriority, control: Control) {
        let finished = outcomes.count { $0 != nil }
        state = Locked(
            State(
                priority: priority, outcomes: outcomes,
                progress: PrefetchProgress(finished: finished, total: outcomes.count)))
        self.control = control
    }

    /// The priority of the loads. Setting it also moves those that wait in the queue.
    public var priority: LoadPriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { $0.priority = newValue }
            control.setPriority(newValue)
        }
    }

    /// How many of the resources have finished.
    public var progress: PrefetchProgress { state.withLock { $0.progress } }

    /// Whether all resources have finished, or were cancelled.
    public var isFinished: Bool { progress.isFinished }

    /// The current progress and its changes, until all resources have finished. A slow consumer gets only the latest value.
    public var progressUpdates: AsyncStream<PrefetchProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id: Int? = state.withLock { state in
                continuation.yield(state.progress)  // under the lock, so that no newer value comes before it
                guard !state.progress.isFinished else { return nil }
                state.lastWatcher += 1
                state.watchers[state.lastWatcher] = continuation
                return state.lastWatcher
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.watchers[id] = nil }
            }
        }
    }

    /// The outcome of each resource, once all have finished. Cancelling the task that awaits it does not cancel the prefetch.
    public var result: PrefetchResult {
        get async {
            await withCheckedContinuation { continuation in
                let result: PrefetchResult? = state.withLock { state in
                    if let result = state.result { return result }
                    state.waiting.append(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }

    /// Cancels the loads that have not finished. Prefetched resources that no load has used yet count as wasted.
    public func cancel() {
        control.cancel()
    }

    /// Replaced by ``cancel()``: `prefetch` used to return a closure.
    @available(*, deprecated, renamed: "cancel()")
    public func callAsFunction() { cancel() }

    /// A resource has finished. Only the first outcome counts.
    func note(_ outcome: PrefetchResult.Outcome, at index: Int) {
        let (result, watchers, waiting) = state.withLock { state in
            if state.outcomes[index] == nil {
                state.outcomes[index] = outcome
                state.progress.finished += 1
                // Under the lock, so that no newer value comes before it.
                state.watchers.values.forEach { $0.yield(state.progress) }
            }
            guard let result = state.result else {
                return (PrefetchResult?.none, [AsyncStream<PrefetchProgress>.Continuation](), state.waiting.prefix(0))
            }
            defer { (state.watchers, state.waiting) = ([:], []) }
            return (result, Array(state.watchers.values), state.waiting[...])
        }
        watchers.forEach { $0.finish() }
        if let result { waiting.forEach { $0.resume(returning: result) } }
    }
}
