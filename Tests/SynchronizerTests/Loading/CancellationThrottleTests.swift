import TestTraits
import Testing

@testable import Synchronizer

@Suite("The budget of requests sent in vain", .bounded)
struct CancellationThrottleTests {
    typealias Machine = LoadMachineHarness.Machine

    @Test("a fling past slow loads sends few requests, and the visible loads start after a pause")
    func fling() {
        var harness = LoadMachineHarness(limits: .init(lookups: 1, network: .init(total: 12, perHost: 12), parses: 1))
        var visible: [RecordID] = []
        for number in 0..<1_000 {
            if visible.count == 12 { harness.unsubscribe(visible.removeFirst()) }
            visible.append(harness.subscribe(number))
            if let id = harness.downloads.first(where: { $0.value.stage == .lookingUp })?.key {
                harness.needsNetwork(id)
            }
        }
        #expect(harness.started <= 15)
        for _ in 0..<2 { harness.pauseEnded() }
        #expect(harness.pause == nil)
        #expect(harness.downloads.count { $0.value.stage == .loading } == 12)
        harness.drain()
        #expect(harness.delivered.count == 12)
        #expect(harness.violations.isEmpty)
    }

    @Test("any number of slots is possible")
    func unlimited() {
        var budget = CancellationThrottle(total: .max)
        _ = budget.cancelledInFlight()
        #expect(budget.allows(running: 1 << 32))
    }

    @Test("loads that come are never held up")
    func useful() {
        var budget = CancellationThrottle(total: 4)
        for _ in 0..<100 {
            #expect(budget.allows(running: 3))
            budget.ended()
        }
        #expect(budget.allows(running: 4))
        #expect(!budget.isPausing)
    }

    @Test("the limit grows by one in four pauses while loads are cancelled, and by one with each load that succeeds")
    func churn() throws {
        var budget = CancellationThrottle(total: 1)
        let first = budget.cancelledInFlight()
        var token = try #require(first)
        for _ in 0..<2 {
            let more = budget.cancelledInFlight()
            #expect(more == nil)
        }
        #expect(!budget.allows(running: 0))
        for pause in 1...4 {
            budget.noteCancellation()
            let next = budget.pauseEnded(token)
            token = try #require(next)
            #expect(budget.allows(running: 0) == (pause == 4))
        }
        #expect(!budget.allows(running: 1))
        budget.ended()
        #expect(budget.allows(running: 1))
    }
}
