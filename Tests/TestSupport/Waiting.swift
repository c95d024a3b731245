import Foundation

/// Lets other tasks run until a condition holds that nothing reports. There is no time limit, which a busy machine would
/// exceed; `Scripts/test` ends a run that hangs, and names the tests that were running.
public nonisolated(nonsending) func waitUntil(_ what: String, _ isSo: () -> Bool) async throws {
    while !isSo() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Runs a closure on `count` threads of its own, so that it may block or spin: the threads of Dispatch's global queues are
/// few, and all tests share them. Wait for the group to see them end.
@discardableResult
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> DispatchGroup {
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(number)
            group.leave()
        }
    }
    return group
}
