import Foundation

/// Encodes and stores objects, one at a time, in the background.
///
/// Waiting objects take memory that no cache counts, so there is a limit. Beyond it, new objects are dropped: an object that is
/// not stored is just parsed again when it is needed.
final class StoringQueue: Sendable {
    private let capacity: Int
    private let queue = DispatchQueue(label: "Synchronizer.storing", qos: .utility)
    /// The cost of the objects that wait, and of the one that is being stored.
    private let cost = Locked(0)

    /// - Parameter capacity: the largest cost of all objects, in bytes. One object alone may exceed it.
    init(capacity: Int = 32 << 20) {
        self.capacity = capacity
    }

    /// Calls `store` soon, unless the waiting objects exceed the capacity.
    ///
    /// - Parameter bytes: the size of the object in memory.
    func add(_ bytes: Int, store: @escaping @Sendable () -> Void) {
        let own = max(bytes, 1_024)  // a waiting store takes that much besides the object
        let fits = cost.withLock { cost in
            guard cost == 0 || own <= capacity - cost else { return false }
            cost += own
            return true
        }
        guard fits else { return }
        queue.async { [self] in
            store()
            cost.withLock { $0 -= own }
        }
    }

    /// Blocks until everything that was added before is stored.
    func wait() { queue.sync {} }
}
