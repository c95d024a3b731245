import Foundation
import Synchronizer

/// A clock that stands still until a test moves it.
public final class ManualClock: TimeSource {
    private struct State {
        var now: Date
        var nextID = 0
        /// Timers of at most so many seconds run at once.
        var impatience: TimeInterval = -1
        var timers: [Int: (due: Date, action: @Sendable () -> Void)] = [:]
        var waiting: [(isAwaited: @Sendable (TimeInterval) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            []
    }

    private let state: Locked<State>

    public init(_ now: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        state = Locked(State(now: now))
    }

    public var now: Date { state.withLock { $0.now } }

    /// Moves the clock, and runs what falls due, in order, on this thread.
    public func advance(by seconds: TimeInterval) {
        let end = now.addingTimeInterval(seconds)
        while let action = nextDue(before: end) { action() }
        state.withLock { $0.now = max($0.now, end) }
    }

    private func nextDue(before end: Date) -> (@Sendable () -> Void)? {
        state.withLock { state in
            let due = state.timers.filter { $0.value.due <= end }
            guard let first = due.min(by: { ($0.value.due, $0.key) < ($1.value.due, $1.key) }) else { return nil }
            state.timers[first.key] = nil
            state.now = max(state.now, first.value.due)
            return first.value.action
        }
    }

    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading {
        if delay <= state.withLock({ $0.impatience }) {
            DispatchQueue.global().async(execute: action)
            return {}
        }
        let (id, ready) = state.withLock { state in
            state.nextID += 1
            state.timers[state.nextID] = (state.now.addingTimeInterval(delay), action)
            let ready = state.waiting.filter { $0.isAwaited(delay) }
            state.waiting.removeAll { $0.isAwaited(delay) }
            return (state.nextID, ready)
        }
        ready.forEach { $0.continuation.resume() }
        return { [state] in state.withLock { $0.timers[id] = nil } }
    }

    /// From now on what is to be run within so many seconds is run at once, on another thread; the clock stands still.
    /// For tests that cannot know whether a timer will be set: libcurl tries some requests again by itself.
    public func runAtOnce(within seconds: TimeInterval) {
        state.withLock { $0.impatience = seconds }
    }

    /// Returns once something is to be run within so many seconds from now. Suites that wait have a time limit.
    public func waitForTimer(within seconds: TimeInterval) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.timers.values.contains(where: { $0.due <= state.now + seconds }) { return true }
                state.waiting.append(({ $0 <= seconds }, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
