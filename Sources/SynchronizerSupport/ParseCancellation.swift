import Foundation

/// Whether the load that a parse belongs to was cancelled.
///
/// `Resource.parse` is an ordinary function on a background thread, so there is no task to cancel. A long parse checks here
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

    // A parse has a thread but no task, so the probe is a thread-specific value. (A task-local value would work, too, but
    // binding one outside of a task crashes optimised programs with Swift 6.3.1 on Linux.)
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Whether all subscribers of the parse on this thread have cancelled. Cheap enough to check for each row of an image. If no
    /// parse runs on this thread, it tells whether the current task was cancelled; without a task it is false.
    public static var isCancelled: Bool { probeSaysSo ?? Task.isCancelled }

    /// Nil if no parse runs on this thread. If one does, the cancellation of the current task does not matter: other loads may
    /// wait for the parse.
    private static var probeSaysSo: Bool? {
        guard let probe = pthread_getspecific(key) else { return nil }
        return Unmanaged<Probe>.fromOpaque(probe).takeUnretainedValue().isCancelled()
    }

    /// Throws `CancellationError` if ``isCancelled`` is true.
    public static func check() throws {
        if isCancelled { throw CancellationError() }
    }

    private static let never = Probe { false }

    /// Runs `body` on this thread. While it runs, ``isCancelled`` calls the closure; without a closure it is false.
    package static func with<T>(_ isCancelled: (@Sendable () -> Bool)?, _ body: () throws -> T) rethrows -> T {
        let probe = isCancelled.map(Probe.init) ?? never
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(probe).toOpaque())
        defer { pthread_setspecific(key, outer) }
        return try withExtendedLifetime(probe, body)
    }
}
