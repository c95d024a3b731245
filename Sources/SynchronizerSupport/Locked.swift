import Foundation

/// A value behind a lock: the only lock type of these modules. The closure must not call handlers or delegates, which could
/// take the lock again.
///
/// All copies share one lock and one value, which are in one object. The lock is a `pthread_mutex_t`, because Foundation's
/// `NSLock` on Linux takes a second lock with each unlock, and allocates four times.
package typealias Locked = _Locked

/// ``Locked``, for these modules only: the underscore says so. It is public because Swift 6.3 specialises inlinable functions of
/// other modules only if they are public. With `package`, an object from memory takes twice as long (`Scripts/bench --only
/// loading --rows memory`, Documentation/Benchmarks.md).
@frozen
public struct _Locked<Value>: @unchecked Sendable {  // the value is touched under the lock only
    @usableFromInline
    final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            withUnsafeMutablePointerToElements { lock in
                pthread_mutex_destroy(lock)
                lock.deinitialize(count: 1)
            }
        }
    }

    @usableFromInline
    let storage: ManagedBuffer<Value, pthread_mutex_t>

    @inlinable
    public init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { lock in
                lock.initialize(to: pthread_mutex_t())
                pthread_mutex_init(lock, nil)
            }
            return value
        }
    }

    /// Whether both are copies of the same `Locked`.
    package func isSame(as other: _Locked) -> Bool { storage === other.storage }

    // Inlinable, so that each module specialises it for its own values.
    @inlinable
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { value, lock in
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
}
