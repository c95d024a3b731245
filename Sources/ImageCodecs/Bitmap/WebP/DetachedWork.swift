import Dispatch
import Synchronizer

/// Runs uninterruptible work on another thread so that the caller stays cancellable.
enum DetachedWork {
    /// Returns or throws what `work` returns or throws. Throws `CancellationError` within some milliseconds if the load is
    /// cancelled. `work` then continues to its end, so it must own everything that it needs.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
        let (ended, result) = (DispatchSemaphore(value: 0), Locked<Result<Value, any Error>?>(nil))
        DispatchQueue.global(qos: .utility).async {
            let value = Result { try work() }
            result.withLock { $0 = value }
            ended.signal()
        }
        // No callback reports a cancelled load, so this thread polls.
        while ended.wait(timeout: .now() + .milliseconds(2)) == .timedOut { try ParseCancellation.check() }
        guard let value = result.withLock({ $0 }) else { throw CancellationError() }
        return try value.get()
    }
}
