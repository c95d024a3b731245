import Foundation

/// A value behind a lock. The closure must not call out. The same as Synchronizer's own, which this module does not depend on.
///
/// Not `Synchronization.Mutex`: the thread sanitizer does not see what that orders on Linux, and reports races.
struct Locked<Value>: @unchecked Sendable {  // the value is touched under the lock only
    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            withUnsafeMutablePointerToElements { lock in
                pthread_mutex_destroy(lock)
                lock.deinitialize(count: 1)
            }
        }
    }

    private let storage: ManagedBuffer<Value, pthread_mutex_t>

    init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { lock in
                lock.initialize(to: pthread_mutex_t())
                pthread_mutex_init(lock, nil)
            }
            return value
        }
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { value, lock in
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
}
