import Foundation

/// A value behind a lock: the only lock type in the project. The closure must not call out.
///
/// The lock is the system's own, because Foundation's `NSLock` on Linux takes a second one with each unlocking, and
/// four allocations.
package final class Locked<Value>: @unchecked Sendable {  // `value` is touched under `lock` only
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
