import Dispatch

/// What a test has waited for in vain.
public struct NeverHappened: Error, CustomStringConvertible {
    public let description: String
}

/// Lets other tasks run until something holds that nobody tells of. It is for what happens soon: after a minute, which
/// only a defect takes, it throws.
public nonisolated(nonsending) func waitUntil(_ what: String, _ isSo: () -> Bool) async throws {
    let end = DispatchTime.now() + 60
    while !isSo() {
        if DispatchTime.now() > end { throw NeverHappened(description: "never: \(what)") }
        await Task.yield()
    }
}
