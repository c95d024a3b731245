import Foundation

/// How a load ended.
public enum SynchronizerResult<Object> {
    /// The object, parsed.
    case success(Object)
    /// The server answered with success and an empty body: there is nothing to parse.
    case noData
    /// Why there is no object: a ``SynchronizerError``.
    case error(any Error)
}

extension SynchronizerResult: Sendable where Object: Sendable {}

/// Cancels a load when called: from any thread, at any time, as often as one likes.
/// Once it has returned the load's completion is not called any more; one that is being called at that moment on another
/// thread goes on. On the main actor, for completions on the main actor, that cannot be.
public typealias CancelLoading = @Sendable () -> Void
