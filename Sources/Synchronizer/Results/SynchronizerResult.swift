import Foundation

/// How a load ended.
public enum SynchronizerResult<Object> {
    /// The object, parsed.
    case success(Object)
    /// The response is a success with an empty body, so there is nothing to parse.
    case noData
    /// The load failed with a ``SynchronizerError``.
    case error(any Error)
}

extension SynchronizerResult: Sendable where Object: Sendable {}

/// Cancels a load. You can call it from any thread, at any time, and more than once.
///
/// After it returns, the load's completion is not called any more; a call in progress on another thread continues. If you call
/// it on the main actor, for a completion on the main actor, there can be no such call.
public typealias CancelLoading = @Sendable () -> Void
