#if canImport(FoundationNetworking)
    import Foundation
    import TestTraits
    import Testing

    @testable import Synchronizer

    @Suite("The queue of a session's delegate", .bounded)
    struct DelegateQueueTests {
        /// Adds a hundred blocks while the first of them runs until it is told to end, and says how many were added by
        /// then.
        func addedDuringFirst(_ queue: DelegateQueue, end: DispatchSemaphore) async -> (during: Int, order: [Int]) {
            let (added, during, order) = (Locked(0), Locked(0), Locked<[Int]>([]))
            return await withCheckedContinuation { continuation in
                DispatchQueue(label: "a session").async {
                    for number in 0..<100 {
                        added.withLock { $0 += 1 }
                        queue.addOperation {
                            if number == 0 {
                                end.wait()
                                during.withLock { $0 = added.withLock { $0 } }
                            }
                            order.withLock { $0.append(number) }
                            if number == 99 {
                                continuation.resume(returning: (during.withLock { $0 }, order.withLock { $0 }))
                            }
                        }
                    }
                    end.signal()
                }
            }
        }

        @Test("makes the session wait when too many blocks do, and runs all in their order")
        func waits() async {
            let end = DispatchSemaphore(value: 0)
            let queue = DelegateQueue(limit: 8, patience: .seconds(600)) { end.signal() }
            let (during, order) = await addedDuringFirst(queue, end: end)
            #expect(during == 9)
            #expect(order == Array(0..<100))
        }

        @Test("does not make it wait for long when that is of no use, and not again with each block")
        func givesUp() async {
            let waits = Locked(0)
            let queue = DelegateQueue(limit: 8, patience: .milliseconds(1)) { waits.withLock { $0 += 1 } }
            let (during, order) = await addedDuringFirst(queue, end: DispatchSemaphore(value: 0))
            #expect(during == 100)
            #expect(order == Array(0..<100))
            #expect(waits.withLock { $0 } == 1)
        }
    }
#endif
