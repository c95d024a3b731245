import Foundation

/// A load to observe, re-prioritize and cancel, from any thread: the result of
/// ``Synchronizer/startLoading(_:priority:completion:)``.
public final class LoadTask: Sendable {
    private struct State {
        var priority: LoadPriority
        var progress = LoadProgress(received: 0)
        var isFinished = false
        var watchers: [Int: AsyncStream<LoadProgress>.Continuation] = [:]
        var lastWatcher = 0
        var handle: Handle?

        mutating func note(_ progress: LoadProgress) {
            self.progress = progress
            watchers.values.forEach { $0.yield(progress) }  // under the lock, so that the values stay in order
        }
    }

    /// The task's actions in the synchronizer.
    struct Handle: Sendable {
        let cancel: CancelLoading
        let setPriority: @Sendable (LoadPriority) -> Void
    }

    private let state: Locked<State>

    init(priority: LoadPriority) {
        state = Locked(State(priority: priority))
    }

    /// The priority of the load. Setting it moves a waiting load in the queue.
    public var priority: LoadPriority {
        get { state.withLock { $0.priority } }
        set {
            let handle = state.withLock { state in
                state.priority = newValue
                return state.handle
            }
            handle?.setPriority(newValue)
        }
    }

    /// Bytes sent to and received from the network so far. If a stored response answers, its whole body counts as received when the
    /// load ends. Zero for an object in memory.
    public var progress: LoadProgress { state.withLock { $0.progress } }

    /// Whether the completion was called or the load was cancelled.
    public var isFinished: Bool { state.withLock { $0.isFinished } }

    /// The current progress and its changes, until the load is finished. A slow consumer gets only the latest value.
    public var progressUpdates: AsyncStream<LoadProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id: Int? = state.withLock { state in
                continuation.yield(state.progress)  // under the lock, so that no newer value comes before it
                guard !state.isFinished else { return nil }
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

    /// Cancels the load: its completion is not called any more. Has no effect on a finished load.
    public func cancel() {
        let handle = state.withLock { $0.handle }
        handle?.cancel()
        finish()
    }

    func attach(_ handle: Handle) {
        state.withLock { $0.handle = $0.isFinished ? nil : handle }
    }

    func note(_ progress: LoadProgress) {
        state.withLock { $0.note(progress) }
    }

    /// Notes the progress of a load that was in flight before, unless there is a newer one.
    func join(_ progress: LoadProgress) {
        state.withLock { if $0.progress == LoadProgress(received: 0) { $0.note(progress) } }
    }

    func finish() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            state.isFinished = true
            state.handle = nil
            return Array(state.watchers.values)
        }
        watchers.forEach { $0.finish() }
    }
}
