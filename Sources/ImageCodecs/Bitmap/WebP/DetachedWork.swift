#if !canImport(ImageIO)
    import Dispatch
    import Synchronizer

    /// Lets another thread do what cannot be left, so that who waits for it can leave.
    enum WorkAside {
        /// What `work` returns, or throws. Throws `CancellationError` within some milliseconds if nobody waits for it any
        /// more; `work` then goes on until it ends, and must hold by itself all that it needs.
        static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
            let (ended, result) = (DispatchSemaphore(value: 0), Locked<Result<Value, any Error>?>(nil))
            DispatchQueue.global(qos: .utility).async {
                let value = Result { try work() }
                result.withLock { $0 = value }
                ended.signal()
            }
            // Nothing calls when a load is cancelled, so that it has to be asked.
            while ended.wait(timeout: .now() + .milliseconds(2)) == .timedOut { try ParseCancellation.check() }
            guard let value = result.withLock({ $0 }) else { throw CancellationError() }
            return try value.get()
        }
    }
#endif
