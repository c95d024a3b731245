import Foundation
import SynchronizerSupport

/// Identifiers and revisions, which are unique among the processes that share a directory and grow with time.
package enum MonotonicID {
    private static let last = Locked<Int64>(0)

    /// 51 bits of microseconds since 2020, limited to a value that is reached in 2083, and 12 random bits that keep the
    /// identifiers of processes apart.
    package static func next() -> Int64 {
        let epoch = 1_577_836_800.0
        let microseconds = max(0, min((Date().timeIntervalSince1970 - epoch) * 1e6, 2e15))
        let proposed = Int64(microseconds) << 12 | Int64.random(in: 0..<4096)
        if ForkedProcess.isCurrent { return proposed }  // a thread of the parent may have held the lock
        return last.withLock { last in
            last = max(last + 1, proposed)
            return last
        }
    }
}
