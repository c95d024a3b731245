import Glibc

/// The lock that a thread holds while it runs an iteration of the engine's loop. Unlike `Locked`, it protects no value, and knows
/// its owner.
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

    /// Takes the lock if no thread has it. Returns whether the caller has the lock now.
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
