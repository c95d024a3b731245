#if !canImport(ImageIO)
    import Foundation
    import Synchronizer
    import TestTraits
    import Testing

    @testable import ImageCodecs

    @Suite("Decodes that wait for the budget", .bounded)
    struct AdmissionQueueTests {
        @Test("the first in the queue is admitted first, even if a later one would fit")
        func order() {
            var queue = AdmissionQueue()
            #expect(queue.ask(60, of: 100) == .admitted)
            #expect(queue.ask(70, of: 100) == .waits(1))
            #expect(queue.ask(10, of: 100) == .waits(2))
            #expect(queue.release(60, of: 100) == [1, 2])
            #expect(queue.used == 80)
        }

        @Test("a decode that exceeds the whole budget is admitted alone")
        func oversized() {
            var queue = AdmissionQueue()
            #expect(queue.ask(10, of: 100) == .admitted)
            #expect(queue.ask(500, of: 100) == .waits(1))
            #expect(queue.release(10, of: 100) == [1])
            #expect(queue.ask(1, of: 100) == .waits(2))
            #expect(queue.release(500, of: 100) == [2])
        }

        @Test("a decode that leaves the queue makes room for the next; an admitted one can't leave")
        func leaving() {
            var queue = AdmissionQueue()
            _ = queue.ask(60, of: 100)
            #expect(queue.ask(70, of: 100) == .waits(1))
            #expect(queue.ask(40, of: 100) == .waits(2))
            #expect(queue.leave(1, of: 100) == [2])
            #expect(queue.leave(2, of: 100) == nil)
            #expect(queue.used == 100)
        }

        @Test("bytes are given back whether a decode succeeds or throws")
        func givenBack() {
            let budget = DecodeBudget { 100 }
            #expect(throws: ImageError.outOfMemory) { try budget.with(50) { throw ImageError.outOfMemory } }
            #expect((try? budget.with(100) { budget.used }) == 100)
            #expect(budget.used == 0)
        }

        @Test("decodes on many threads never take more than there is, and all get their turn")
        func manyThreads() {
            let budget = DecodeBudget { 100 }
            let seen = Locked((most: 0, done: 0))
            DispatchQueue.concurrentPerform(iterations: 200) { index in
                try? budget.with(10 + index % 7 * 10) {
                    let used = budget.used
                    seen.withLock { $0 = (max($0.most, used), $0.done + 1) }
                }
            }
            #expect(seen.withLock { $0.done } == 200)
            #expect(seen.withLock { $0.most } <= 100)
            #expect(budget.used == 0)
        }

        @Test("a decode that waits when its load is cancelled never starts, and the next one is not held up")
        func cancelledWhileWaiting() throws {
            let budget = DecodeBudget { 100 }
            let started = Locked(false)
            _ = try budget.with(100) {
                #expect(throws: CancellationError.self) {
                    try ParseCancellation.with({ true }) { try budget.with(1) { started.withLock { $0 = true } } }
                        as Void
                }
            }
            #expect(!started.withLock { $0 })
            #expect(budget.used == 0)
        }

    }
#endif
