import Glibc

/// The right to a turn: a system lock that, unlike `Locked`, protects no value.
final class TurnLock: @unchecked Sendable {  // the lock is made for several threads
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(lock, nil) }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func begin() { pthread_mutex_lock(lock) }

    /// Whether no thread had a turn. If so, the caller has it now.
    func tryBegin() -> Bool { pthread_mutex_trylock(lock) == 0 }

    func end() { pthread_mutex_unlock(lock) }
}
