import Foundation

/// Whether the load that a parse belongs to was cancelled.
///
/// ``Resource/parse`` is an ordinary function on a background thread, so there is no task to cancel. A long parse checks here
/// regularly, and stops by throwing:
///
/// ```swift
/// for row in rows {
///     try ParseCancellation.check()
///     …
/// }
/// ```
public enum ParseCancellation {
    private final class Probe: Sendable {
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

    /// Whether all subscribers of the parse on this thread have cancelled. Cheap enough to check for each row of an image. In a
    /// task without a parse it is true if the task was cancelled; otherwise it is false.
    public static var isCancelled: Bool { probeSaysSo ?? Task.isCancelled }

    /// Nil if no parse runs on this thread. If one does, it alone decides: other loads than the current task may wait for it.
    private static var probeSaysSo: Bool? {
        guard let probe = pthread_getspecific(key) else { return nil }
        return Unmanaged<Probe>.fromOpaque(probe).takeUnretainedValue().isCancelled()
    }

    /// Throws `CancellationError` if ``isCancelled`` is true.
    public static func check() throws {
        if isCancelled { throw CancellationError() }
    }

    private static let never = Probe { false }

    /// Runs `body` on this thread. While it runs, ``isCancelled`` calls `isCancelled`; if that is nil, it is false.
    package static func with<T>(_ isCancelled: (@Sendable () -> Bool)?, _ body: () throws -> T) rethrows -> T {
        let probe = isCancelled.map(Probe.init) ?? never
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(probe).toOpaque())
        defer { pthread_setspecific(key, outer) }
        return try withExtendedLifetime(probe, body)
    }
}
