extension MainQueue {
    /// Calls a function of the main actor; the caller has checked ``isCurrent``.
    ///
    /// `assumeIsolated` would check again. Without this cast and that in `LoadedObject.object(of:)`, a memory hit takes 3.9
    /// times as long as a lock and a dictionary instead of 2.9 times, and `cachedObject(for:)` 3.2 times instead of 1.8: see
    /// `Benchmarks/Sources/bench-loading/MemoryRows.swift` (`Scripts/bench --only loading --rows memory`).
    static func call<Value>(_ completion: @escaping @MainActor (Value) -> Void, with value: Value) {
        assert(isCurrent)
        // An isolated function differs from an ordinary one in its type only; `assumeIsolated` does the same.
        unsafeBitCast(completion, to: ((Value) -> Void).self)(value)
    }
}
