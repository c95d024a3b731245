import Foundation
import Synchronizer

/// A clock that stands still until a test moves it. You can use it from any thread.
///
/// ```swift
/// let clock = ManualClock()
/// let synchronizer = Synchronizer.stub(configuration: .test(time: clock)) { _ in
///     Reply("hello", fields: ["Cache-Control": "max-age=60"])
/// }
/// clock.advance(by: 61)      // responses that were loaded before are stale now
/// ```
public final class ManualClock: TimeSource {
    private struct Timer {
        let delay: TimeInterval
        let due: Date
        let action: @Sendable () -> Void
    }

    private struct State {
        var now: Date
        var nextID = 0
        /// Timers of at most this many seconds run at once.
        var impatience: TimeInterval = 0
        var timers: [Int: Timer] = [:]

        /// The first timer that falls due of those with such a delay.
        func timer(after delays: ClosedRange<TimeInterval>) -> Int? {
            timers.filter { delays.contains($0.value.delay) }
                .min { ($0.value.due, $0.key) < ($1.value.due, $1.key) }?.key
        }
    }

    private let state: Observed<State>

    /// Creates a clock that shows a date: by default one in the year 2027.
    public init(_ now: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        state = Observed(State(now: now))
    }

    /// The date that the clock shows.
    public var now: Date { state.read(\.now) }

    /// Moves the clock by a number of seconds, and runs the timers that fall due, in order, on this thread.
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

    /// Runs the action when the clock has been moved by `delay` seconds, on the thread that moves it. If the delay is zero or less,
    /// runs the action at once, on another thread.
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

    /// From now on, runs timers of at most this many seconds immediately, on another thread, while the clock stands still. For
    /// tests that cannot know whether a timer will be set: libcurl retries some requests by itself.
    public func runAtOnce(within seconds: TimeInterval) {
        state.update { $0.impatience = seconds }
    }

    /// Returns once a timer with a delay in this range, in seconds, waits. The delay distinguishes the timer that a test waits
    /// for from others, which may be due at the same time.
    ///
    /// - Throws: `CancellationError`, if the task is cancelled before.
    public func waitForTimer(after delays: ClosedRange<TimeInterval>) async throws {
        _ = try await state.wait(for: "a timer of \(delays) s") { $0.timer(after: delays) != nil }
    }

    /// Waits for a timer whose delay is in this range, in seconds. Then moves the clock to the date at which it is due, and runs
    /// only this timer, because its action may set the next one immediately, on another thread. If several timers have such a
    /// delay, runs the first one that falls due.
    ///
    /// - Throws: `CancellationError`, if the task is cancelled before.
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
