import Foundation

/// A value behind a lock: the only lock type in the project. The closure must not call out.
package final class Locked<Value>: @unchecked Sendable {  // `value` is touched under `lock` only
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
