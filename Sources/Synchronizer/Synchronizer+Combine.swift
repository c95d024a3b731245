#if canImport(Combine)
    public import Combine
    import Foundation

    extension Synchronizer {
        /// Returns a publisher of one load. It publishes the object, or fails with the error that ``load(_:priority:)`` throws.
        ///
        /// ```swift
        /// synchronizer.publisher(for: photo)
        ///     .map(Optional.some)
        ///     .replaceError(with: placeholder)
        ///     .receive(on: DispatchQueue.main)
        ///     .assign(to: \.image, on: imageView)
        ///     .store(in: &cancellables)
        /// ```
        ///
        /// Each subscription starts a load when its subscriber first requests a value. Identical loads are coalesced. Values
        /// arrive on a background thread. Cancelling the subscription cancels the load.
        public func publisher<R: Resource>(
            for resource: R, priority: LoadPriority = .normal
        ) -> LoadPublisher<R.ParsedObject> {
            LoadPublisher { receive in
                let task = Task {
                    do {
                        receive(.value(try await self.load(resource, priority: priority)))
                        receive(.completion(.finished))
                    } catch {
                        receive(.completion(.failure(error)))
                    }
                }
                return { task.cancel() }
            }
        }

        /// Returns a publisher of the steps of ``updates(of:priority:)``: the stored object, if there is one, and then the
        /// server's.
        ///
        /// Each subscription starts a load when its subscriber first requests a value. A slow subscriber gets only the latest
        /// value. Cancelling the subscription cancels the load.
        public func updatesPublisher<R: Resource>(
            of resource: R, priority: LoadPriority = .normal
        ) -> LoadPublisher<ResourceUpdate<R.ParsedObject>> {
            LoadPublisher { receive in
                let task = Task {
                    do {
                        for try await update in self.updates(of: resource, priority: priority) {
                            receive(.value(update))
                        }
                        receive(.completion(.finished))
                    } catch {
                        receive(.completion(.failure(error)))
                    }
                }
                return { task.cancel() }
            }
        }
    }

    /// A publisher of a load: see ``Synchronizer/publisher(for:priority:)``. Its error is the one that the load
    /// throws.
    public struct LoadPublisher<Output: Sendable>: Publisher, Sendable {
        /// The error: a ``SynchronizerError``, or the error of a hook.
        public typealias Failure = any Error

        enum Event {
            case value(Output)
            case completion(Subscribers.Completion<any Error>)
        }

        typealias Start = @Sendable (_ receive: @escaping @Sendable (Event) -> Void) -> CancelLoading

        let start: Start

        /// Subscribes; the load begins when the subscriber requests a value.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
            let subscription = LoadSubscription(
                to: .init(receive: { subscriber.receive($0) }, complete: { subscriber.receive(completion: $0) }),
                start: start)
            subscriber.receive(subscription: subscription)
        }
    }

    /// Passes events to a subscriber as it requests them, one at a time.
    private final class LoadSubscription<Value: Sendable>: Subscription, Sendable {
        // Combine declares no subscriber Sendable, although its protocol allows calls from any thread, one at a time.
        struct Downstream: @unchecked Sendable {  // `isCalling` lets one thread at a time call it
            let receive: (Value) -> Subscribers.Demand
            let complete: (Subscribers.Completion<any Error>) -> Void
        }

        private struct State {
            var downstream: Downstream?
            var start: LoadPublisher<Value>.Start?
            var cancel: CancelLoading?
            var demand = Subscribers.Demand.none
            var value: Value?
            var completion: Subscribers.Completion<any Error>?
            var isCalling = false

            /// The next event to deliver; nil if there is none, or if another thread is delivering.
            mutating func next() -> (Downstream, LoadPublisher<Value>.Event)? {
                guard !isCalling, let downstream else { return nil }
                if let value, demand > 0 {
                    self.value = nil
                    demand -= 1
                    isCalling = true
                    return (downstream, .value(value))
                }
                guard value == nil, let completion else { return nil }
                self.downstream = nil
                return (downstream, .completion(completion))
            }
        }

        private let state: Locked<State>

        init(to downstream: Downstream, start: @escaping LoadPublisher<Value>.Start) {
            state = Locked(State(downstream: downstream, start: start))
        }

        func request(_ demand: Subscribers.Demand) {
            let start = state.withLock { state in
                state.demand += demand
                return state.start.take()
            }
            guard let start else { return deliver() }
            let cancel = start { [weak self] in self?.receive($0) }
            let isOver = state.withLock { state in
                state.cancel = cancel
                return state.downstream == nil
            }
            if isOver { cancel() }
        }

        func cancel() {
            let (cancel, dropped) = state.withLock { state in
                (state.cancel.take(), (state.downstream.take(), state.start.take()))
            }
            withExtendedLifetime(dropped) {}  // released after unlocking
            cancel?()
        }

        private func receive(_ event: LoadPublisher<Value>.Event) {
            state.withLock { state in
                switch event {
                case .value(let value): state.value = value
                case .completion(let completion): state.completion = completion
                }
            }
            deliver()
        }

        /// Delivers the requested events. If another thread is delivering, that thread delivers them instead.
        private func deliver() {
            while let (downstream, event) = state.withLock({ $0.next() }) {
                switch event {
                case .value(let value):
                    let more = downstream.receive(value)
                    state.withLock { state in
                        state.demand += more
                        state.isCalling = false
                    }
                case .completion(let completion):
                    return downstream.complete(completion)
                }
            }
        }
    }
#endif
