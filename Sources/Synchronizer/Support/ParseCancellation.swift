/// Whether the load that a parse works for has been given up.
///
/// ``Resource/parse`` is an ordinary function on a background thread, so it belongs to no task that could be cancelled.
/// A parse that takes long asks here now and then, and stops by throwing:
///
/// ```swift
/// for row in rows {
///     try ParseCancellation.check()
///     …
/// }
/// ```
public enum ParseCancellation {
    // A task-local value that is bound outside of a task lives in the thread, which is what a parse has.
    // It is an object, and not the closure itself, because optimised code of Swift 6.3 crashes on a task-local closure.
    @TaskLocal private static var probe: Probe?

    private final class Probe: Sendable {
        let isCancelled: @Sendable () -> Bool

        init(_ isCancelled: @escaping @Sendable () -> Bool) {
            self.isCancelled = isCancelled
        }
    }

    /// Whether nobody waits for the parse on this thread any more. Cheap enough to be asked for each row of an image.
    /// In a task it is also true when the task has been cancelled; outside of both it is false.
    public static var isCancelled: Bool { Task.isCancelled || probe?.isCancelled() == true }

    /// Throws `CancellationError` if ``isCancelled`` is true.
    public static func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Runs `body` on this thread; for its duration ``isCancelled`` also asks `isCancelled`.
    package static func with<T>(_ isCancelled: @escaping @Sendable () -> Bool, _ body: () throws -> T) rethrows -> T {
        try $probe.withValue(Probe(isCancelled), operation: body)
    }
}
