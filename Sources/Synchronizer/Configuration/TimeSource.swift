import Foundation

/// What tells the time, and wakes up at a later one. The system's clock, unless a test or a demonstration moves it by hand.
public protocol TimeSource: Sendable {
    /// The wall clock: what freshness is judged by (RFC 9111 §4.2).
    var now: Date { get }

    /// Runs the action once, `delay` seconds from now, on a thread of its own choice; the closure that it returns
    /// cancels it, if it has not begun.
    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading
}

/// The system's clock.
public struct SystemTime: TimeSource {
    /// The system's clock; every instance is the same.
    public init() {}

    /// The time of day as the system has it; it jumps when that is set.
    public var now: Date { Date() }

    /// On a global dispatch queue, `delay` seconds from now at the earliest.
    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading {
        let item = DispatchWorkItem(block: action)
        DispatchQueue.global().asyncAfter(deadline: .now() + delay, execute: item)
        nonisolated(unsafe) let cancellable = item  // `cancel()` may be called from any thread (Dispatch)
        return { cancellable.cancel() }
    }
}
