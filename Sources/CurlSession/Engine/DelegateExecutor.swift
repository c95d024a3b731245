import Foundation

/// Calls delegates on the session's delegate queue.
struct DelegateExecutor: Sendable {
    private let operations: OperationQueue
    /// The underlying queue of `operations`. It is used directly if there is one: an operation costs ten times as much as a block.
    private let queue: DispatchQueue?
    /// Whether calls are never concurrent. A dispatch queue does not say whether it is serial.
    private let isSerial: Bool

    init(_ operations: OperationQueue) {
        self.operations = operations
        queue = operations.underlyingQueue
        isSerial = operations.maxConcurrentOperationCount == 1
    }

    /// Calls the delegates of tasks, in one block if the calls are serial anyway. Otherwise, no task waits for another.
    func drain(_ tasks: [any TransferClient]) {
        if isSerial {
            run { tasks.forEach { $0.drain() } }
        } else {
            for task in tasks { run { task.drain() } }
        }
    }

    func run(_ block: @escaping @Sendable () -> Void) {
        if let queue { queue.async(execute: block) } else { operations.addOperation(block) }
    }
}
