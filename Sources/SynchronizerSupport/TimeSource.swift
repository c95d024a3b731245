import Foundation

/// A clock that also schedules actions. It is the system's clock, unless a test or a demonstration moves one by hand.
public protocol TimeSource: Sendable {
    /// The wall clock, which freshness is judged by (RFC 9111 §4.2).
    var now: Date { get }

    /// Runs the action once, after `delay` seconds, on any thread. The closure that it returns cancels the action, unless
    /// it has begun.
    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// The system's clock.
public struct SystemTime: TimeSource {
    /// Creates the system's clock; all instances are the same.
    public init() {}

    /// The system's time of day, which jumps when it is set.
    public var now: Date { Date() }

    /// Runs the action on a global dispatch queue, after `delay` seconds or a little more.
    public func schedule(
        after delay: TimeInterval, _ action: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        // A cancelled `DispatchWorkItem` would stay in memory until the delay is over.
        nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: .global())  // thread-safe (Dispatch)
        timer.setEventHandler {
            timer.cancel()
            action()
        }
        timer.schedule(deadline: .now() + delay)
        timer.resume()
        return { timer.cancel() }
    }
}
