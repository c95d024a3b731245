#if canImport(FoundationNetworking)
    import Foundation

    extension OperationQueue {
        /// A serial queue for a session's delegate.
        static func forDelegate() -> OperationQueue { DelegateQueue() }
    }

    /// Hands the session's blocks to a dispatch queue as they are: `OperationQueue` on Linux makes an operation of each,
    /// which takes ten times as long, and a load has four or more of them.
    private final class DelegateQueue: OperationQueue, @unchecked Sendable {  // its own state is one `let`
        private let queue = DispatchQueue(label: "Synchronizer.session", qos: .userInitiated)

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            queue.async(execute: block)
        }
    }
#endif
