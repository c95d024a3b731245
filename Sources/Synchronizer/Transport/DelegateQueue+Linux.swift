#if canImport(FoundationNetworking)
    import Foundation

    extension OperationQueue {
        /// A serial queue for a session's delegate.
        static func forDelegate() -> OperationQueue { DelegateQueue() }
    }

    /// Hands the session's blocks to a dispatch queue as they are: `OperationQueue` on Linux makes an operation of each,
    /// which takes ten times as long, and a load has four or more of them.
    ///
    /// The session reads on however many blocks wait, with 16 KB of a body each; and when the processors are busy many do,
    /// in the memory of each thread that the session happens to run on. So it is made to wait for the delegate when there
    /// are too many. Not for long: its thread is that of all sessions, and the delegate may wait for it in turn.
    final class DelegateQueue: OperationQueue, @unchecked Sendable {  // its own state is `let` or Locked
        private struct State {
            /// Blocks that have not ended.
            var count = 0
            /// Threads that wait until there are fewer.
            var waiting = 0
            /// Whether nobody waits any more until there are fewer, because it was of no use.
            var isGivenUp = false
        }

        private let queue = DispatchQueue(label: "Synchronizer.session", qos: .userInitiated)
        private let limit: Int
        private let patience: DispatchTimeInterval
        private let state = Locked(State())
        private let room = DispatchSemaphore(value: 0)
        private let willWait: @Sendable () -> Void

        /// - Parameters:
        ///   - limit: how many blocks may wait before whoever adds one does.
        ///   - patience: for how long at most.
        init(
            limit: Int = 32, patience: DispatchTimeInterval = .milliseconds(10),
            willWait: @escaping @Sendable () -> Void = {}
        ) {
            (self.limit, self.patience, self.willWait) = (limit, patience, willWait)
            super.init()
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            let isToWait = state.withLock { state in
                state.count += 1
                guard state.count > limit, !state.isGivenUp else { return false }
                state.waiting += 1
                return true
            }
            queue.async { [self] in
                block()
                hasEnded()
            }
            if isToWait { wait() }
        }

        private func wait() {
            willWait()
            guard room.wait(timeout: .now() + patience) == .timedOut else { return }
            let isLate = state.withLock { state in
                guard state.waiting > 0 else { return true }  // it was let go at this very moment
                state.waiting -= 1
                state.isGivenUp = true
                return false
            }
            if isLate { room.wait() }
        }

        private func hasEnded() {
            let waiting = state.withLock { state in
                state.count -= 1
                guard state.count <= limit / 2 else { return 0 }
                defer { (state.waiting, state.isGivenUp) = (0, false) }
                return state.waiting
            }
            for _ in 0..<waiting { room.signal() }
        }
    }
#endif
