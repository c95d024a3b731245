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
/// Once it has returned the load's completion is not called any more.
public typealias CancelLoading = @Sendable () -> Void
