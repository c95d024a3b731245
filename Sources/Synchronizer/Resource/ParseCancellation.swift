import Foundation

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
    private final class Probe {
        let isCancelled: @Sendable () -> Bool

        init(_ isCancelled: @escaping @Sendable () -> Bool) {
            self.isCancelled = isCancelled
        }
    }

    // A parse has a thread and no task, so the probe lives in the thread. (A task-local value would, too, but binding
    // one outside of a task crashes optimised programs with Swift 6.3.1 on Linux.)
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Whether nobody waits for the parse on this thread any more. Cheap enough to be asked for each row of an image.
    /// In a task it is also true when the task has been cancelled; outside of both it is false.
    public static var isCancelled: Bool { probeSaysSo ?? Task.isCancelled }

    /// Nil where no parse runs. Where one does, it alone decides: others may wait for it than the task at hand.
    private static var probeSaysSo: Bool? {
        guard let probe = pthread_getspecific(key) else { return nil }
        return Unmanaged<Probe>.fromOpaque(probe).takeUnretainedValue().isCancelled()
    }

    /// Throws `CancellationError` if ``isCancelled`` is true.
    public static func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Runs `body` on this thread; for its duration ``isCancelled`` also asks `isCancelled`.
    package static func with<T>(_ isCancelled: @escaping @Sendable () -> Bool, _ body: () throws -> T) rethrows -> T {
        let probe = Probe(isCancelled)
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(probe).toOpaque())
        defer { pthread_setspecific(key, outer) }
        return try withExtendedLifetime(probe, body)
    }
}
