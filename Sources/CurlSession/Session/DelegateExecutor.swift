import Foundation

/// Calls delegates on the session's delegate queue.
struct DelegateExecutor: Sendable {
    private let operations: OperationQueue
    /// The underlying queue of `operations`. It is used directly if there is one: an operation costs ten times as much as a block.
    private let queue: DispatchQueue?

    init(_ operations: OperationQueue) {
        self.operations = operations
        queue = operations.underlyingQueue
    }

    /// Calls the delegates of tasks. On a concurrent queue, no task waits for another.
    func drain(_ tasks: [TaskCore]) {
        if let queue {
            // A queue does not say whether it is serial.
            for task in tasks { queue.async { task.drain() } }
        } else if operations.maxConcurrentOperationCount == 1 {
            operations.addOperation { tasks.forEach { $0.drain() } }
        } else {
            for task in tasks { operations.addOperation { task.drain() } }
        }
    }

    func run(_ block: @escaping @Sendable () -> Void) {
        if let queue { queue.async(execute: block) } else { operations.addOperation(block) }
    }
}
