import Foundation
import ScriptedServer
import Synchronizer

/// A clock that stands still until a test moves it.
public final class ManualClock: TimeSource {
    private struct Timer {
        let delay: TimeInterval
        let due: Date
        let action: @Sendable () -> Void
    }

    private struct State {
        var now: Date
        var nextID = 0
        /// Timers of at most so many seconds run at once.
        var impatience: TimeInterval = -1
        var timers: [Int: Timer] = [:]

        func timer(after delays: ClosedRange<TimeInterval>) -> Int? {
            timers.first { delays.contains($0.value.delay) }?.key
        }
    }

    private let state: Observed<State>

    public init(_ now: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        state = Observed(State(now: now))
    }

    public var now: Date { state.read(\.now) }

    /// Moves the clock, and runs what falls due, in order, on this thread.
    public func advance(by seconds: TimeInterval) {
        let end = now.addingTimeInterval(seconds)
        while let action = nextDue(before: end) { action() }
        state.update { $0.now = max($0.now, end) }
    }

    private func nextDue(before end: Date) -> (@Sendable () -> Void)? {
        state.update { state in
            let due = state.timers.filter { $0.value.due <= end }
            guard let first = due.min(by: { ($0.value.due, $0.key) < ($1.value.due, $1.key) }) else { return nil }
            state.timers[first.key] = nil
            state.now = max(state.now, first.value.due)
            return first.value.action
        }
    }

    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading {
        if delay <= state.read(\.impatience) {
            DispatchQueue.global().async(execute: action)
            return {}
        }
        let id = state.update { state in
            state.nextID += 1
            state.timers[state.nextID] = Timer(delay: delay, due: state.now + delay, action: action)
            return state.nextID
        }
        return { [state] in state.update { $0.timers[id] = nil } }
    }

    /// From now on what is to be run within so many seconds is run at once, on another thread; the clock stands still.
    /// For tests that cannot know whether a timer will be set: libcurl tries some requests again by itself.
    public func runAtOnce(within seconds: TimeInterval) {
        state.update { $0.impatience = seconds }
    }

    /// Returns once a timer is there that was set with such a delay in seconds, and throws if none ever is. The delay
    /// tells the timer that a test waits for from others, which may be due at the same time.
    public func waitForTimer(after delays: ClosedRange<TimeInterval>) async throws {
        _ = try await state.wait(for: "a timer of \(delays) s") { $0.timer(after: delays) != nil }
    }

    /// Waits for such a timer, moves the clock to when it is due, and runs it, and no other: what it sets off may set
    /// the next one at once, on another thread.
    public func runTimer(after delays: ClosedRange<TimeInterval>) async throws {
        try await waitForTimer(after: delays)
        let action = state.update { state in
            let timer = state.timer(after: delays).flatMap { state.timers.removeValue(forKey: $0) }
            state.now = max(state.now, timer?.due ?? state.now)
            return timer?.action
        }
        action?()
    }
}
