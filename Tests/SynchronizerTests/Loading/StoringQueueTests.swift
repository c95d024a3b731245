import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The queue of objects to store", .bounded)
struct StoringQueueTests {
    @Test("drops what exceeds its capacity, takes one object of any size, and has room again when that is stored")
    func capacity() {
        let (queue, stored) = (StoringQueue(capacity: 10_000), Collector<String>())
        for round in 1...3 {
            // Added by the thread that stores, so that nothing is stored in between.
            queue.add(8_000) {
                queue.add(2_001) { stored.append("dropped") }
                queue.add(2_000) { stored.append("fits \(round)") }
            }
            settle(queue)
            queue.add(.max) {
                queue.add(0) { stored.append("dropped") }
                stored.append("alone \(round)")
            }
            settle(queue)
            queue.add(2_000) {
                for number in 0..<20 { queue.add(0) { stored.append("\(number)") } }
            }
            settle(queue)
        }
        let each = { (round: Int) in ["fits \(round)", "alone \(round)"] + (0..<7).map(String.init) }
        #expect(stored.elements == [1, 2, 3].flatMap(each))
    }

    /// Waits for what was added, and for what that has added.
    private func settle(_ queue: StoringQueue) {
        queue.wait()
        queue.wait()
    }
}
