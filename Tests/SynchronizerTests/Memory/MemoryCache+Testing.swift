@testable import Synchronizer

extension MemoryCache {
    /// The cost of all values.
    var totalCost: Int { state.withLock { $0.cost } }

    /// The number of values, also of stale ones.
    var count: Int { state.withLock { $0.entries.count } }
}
