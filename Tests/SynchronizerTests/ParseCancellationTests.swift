import Foundation
import TestTraits
import Testing

@testable import Synchronizer

@Suite("ParseCancellation", .bounded)
struct ParseCancellationTests {
    /// Runs `body` on a thread that belongs to no task.
    private func onPlainThread<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    @Test("outside of a parse nothing is cancelled")
    func outside() async {
        #expect(await onPlainThread { ParseCancellation.isCancelled } == false)
    }

    @Test("a parse on a plain thread sees its own load being cancelled, and only while it runs")
    func plainThread() async {
        let cancelled = Locked(false)
        let seen = await onPlainThread {
            var seen: [Bool] = []
            ParseCancellation.with({ cancelled.withLock { $0 } }) {
                seen.append(ParseCancellation.isCancelled)
                cancelled.withLock { $0 = true }
                seen.append(ParseCancellation.isCancelled)
            }
            seen.append(ParseCancellation.isCancelled)
            return seen
        }
        #expect(seen == [false, true, false])
    }

    @Test("parses on two threads do not see each other's cancellation")
    func twoThreads() async {
        let seen = await ParseCancellation.with({ true }) {
            Task.detached { await self.onPlainThread { ParseCancellation.isCancelled } }
        }.value
        #expect(seen == false)
    }

    @Test("a cancelled task's parse is cancelled, and check throws")
    func task() async {
        let task = Task { () -> Bool in
            withUnsafeCurrentTask { $0?.cancel() }
            do {
                try ParseCancellation.check()
                return false
            } catch {
                return error is CancellationError && ParseCancellation.isCancelled
            }
        }
        #expect(await task.value)
    }
}
