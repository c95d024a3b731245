#if canImport(Darwin)
    import Foundation

    extension OperationQueue {
        /// A serial queue for a session's delegate.
        static func forDelegate() -> OperationQueue {
            let queue = OperationQueue()
            queue.name = "Synchronizer.session"
            queue.maxConcurrentOperationCount = 1
            return queue
        }
    }
#endif
