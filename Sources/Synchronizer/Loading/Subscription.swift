/// One caller's place in a load: it answers once, or never after `cancel`.
final class Subscription<Completion: Sendable>: Sendable {
    private struct State {
        /// Nil once the caller has been answered, or has left.
        var completion: Completion?
        var subscriber: Int?
    }

    private let state: Locked<State>
    private let loader: Loader

    init(_ completion: Completion, loader: Loader) {
        state = Locked(State(completion: completion))
        self.loader = loader
    }

    /// The right to answer: given out once.
    func take() -> Completion? {
        state.withLock { state in
            defer { state.completion = nil }
            return state.completion
        }
    }

    /// Tells which subscriber of the loader this is. If the caller has left meanwhile, so does the subscriber.
    func joined(as subscriber: Int) {
        let isOver = state.withLock { state in
            state.subscriber = subscriber
            return state.completion == nil
        }
        if isOver { loader.leave(subscriber) }
    }

    /// Leaves; gives what was to be answered, if that has not happened.
    @discardableResult
    func cancel() -> Completion? {
        guard let completion = take() else { return nil }
        if let subscriber = state.withLock({ $0.subscriber }) { loader.leave(subscriber) }
        return completion
    }

    func setPriority(_ priority: LoadPriority) {
        if let subscriber = state.withLock({ $0.subscriber }) { loader.setPriority(priority, of: subscriber) }
    }
}
