import Foundation

/// How a load ended.
public enum SynchronizerResult<Object> {
    /// The object, parsed.
    case success(Object)
    /// The response is a success with an empty body, which the resource does not accept (``Resource/acceptsEmptyBody``).
    case noData
    /// The load failed, with a ``SynchronizerError`` or the error of a hook.
    case error(any Error)
}

extension SynchronizerResult {
    /// Returns the object. Throws the error, or ``SynchronizerError/noData(_:)`` with an empty context.
    public func get() throws -> Object {
        switch self {
        case .success(let object): return object
        case .noData: throw SynchronizerError.noData(.init(url: nil, trace: LoadTrace()))
        case .error(let error): throw error
        }
    }
}

extension SynchronizerResult: Sendable where Object: Sendable {}

/// Cancels a load. You can call it from any thread, at any time, and more than once.
///
/// After it returns, the load's completion is not called any more; a call in progress on another thread continues. If you call
/// it on the main actor, for a completion on the main actor, there can be no such call.
public typealias CancelLoading = @Sendable () -> Void
