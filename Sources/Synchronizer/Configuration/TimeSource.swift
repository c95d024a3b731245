import Foundation

/// A clock with timers: the system's clock, unless a test or a demo moves it by hand.
public protocol TimeSource: Sendable {
    /// The wall clock, which decides about freshness (RFC 9111 §4.2).
    var now: Date { get }

    /// Runs the action once, `delay` seconds from now, on any thread. The returned closure cancels it if it has not begun.
    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading
}

/// The system's clock.
public struct SystemTime: TimeSource {
    /// Creates the system's clock; all instances are equal.
    public init() {}

    /// The system's time of day; it jumps when the system's clock is set.
    public var now: Date { Date() }

    /// On a global dispatch queue, `delay` seconds from now at the earliest.
    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading {
        let item = DispatchWorkItem(block: action)
        DispatchQueue.global().asyncAfter(deadline: .now() + delay, execute: item)
        nonisolated(unsafe) let cancellable = item  // `cancel()` may be called from any thread (Dispatch)
        return { cancellable.cancel() }
    }
}
