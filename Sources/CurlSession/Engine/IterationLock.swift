import Glibc

/// The right to run an iteration of the engine's loop: a system lock that protects no value, unlike `Locked`, and knows its owner.
final class IterationLock: @unchecked Sendable {  // the lock is made for several threads; `owner` is written under it
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// The thread that has the lock; 0 if none has it.
    private var owner: pthread_t = 0

    init() { pthread_mutex_init(lock, nil) }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func begin() {
        pthread_mutex_lock(lock)
        owner = pthread_self()
    }

    /// Whether no thread had the lock. If so, the caller has it now.
    func tryBegin() -> Bool {
        guard pthread_mutex_trylock(lock) == 0 else { return false }
        owner = pthread_self()
        return true
    }

    func end() {
        owner = 0
        pthread_mutex_unlock(lock)
    }

    /// Stops the process unless the caller has the lock.
    func assertHeld() {
        precondition(owner == pthread_self(), "only for the engine's thread")
    }
}
