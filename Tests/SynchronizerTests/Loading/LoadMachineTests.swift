import TestSupport
import Testing

@testable import Synchronizer

@Suite("The load machine")
struct LoadMachineTests {
    typealias Machine = LoadMachineHarness.Machine
    static let narrow = Machine.Limits(lookups: 1, network: .init(total: 1, perHost: 1), parses: 1)
    static let small = Machine.Limits(lookups: 2, network: .init(total: 3, perHost: 2), parses: 2)

    @Test("what is asked for twice is loaded and parsed once, and answers both")
    func coalescing() {
        var harness = LoadMachineHarness(limits: Self.small)
        let one = harness.subscribe(1)
        let other = harness.subscribe(1)
        #expect(harness.downloads.count == 1)
        harness.drain()
        #expect(harness.delivered == [one, other])
        #expect(harness.violations.isEmpty)
    }

    @Test("two parses of one response share the download")
    func twoParses() {
        var harness = LoadMachineHarness(limits: Self.small)
        harness.subscribe(1, parse: "small")
        harness.subscribe(1, parse: "large")
        #expect(harness.downloads.count == 1)
        harness.fetchEnded(harness.downloads.keys.first ?? SlotID(slot: 0, number: 0), succeeded: true)
        #expect(harness.runningParses.count == 2)
        harness.drain()
        #expect(harness.delivered.count == 2)
        #expect(harness.violations.isEmpty)
    }

    @Test("a subscriber that leaves leaves the others; the last one out ends the load")
    func leaving() {
        var harness = LoadMachineHarness(limits: Self.small)
        let one = harness.subscribe(1)
        let other = harness.subscribe(1)
        harness.unsubscribe(one)
        #expect(harness.downloads.count == 1)
        harness.unsubscribe(other)
        #expect(harness.downloads.isEmpty)
        #expect(harness.delivered.isEmpty)
        #expect(harness.machine.isIdle)
        #expect(harness.violations.isEmpty)
    }

    @Test("the newest waiting load comes first, the one asked for again newest of all")
    func newestFirst() {
        var harness = LoadMachineHarness(limits: Self.narrow)
        harness.subscribe(0)
        harness.subscribe(1)
        harness.subscribe(2)
        harness.subscribe(1)
        harness.fetchEnded(
            harness.downloads.first { $0.value.request == 0 }?.key ?? SlotID(slot: 0, number: 0), succeeded: false)
        let now = harness.downloads.first { $0.value.stage == .lookingUp }?.value
        #expect(now?.request == 1)
        harness.drain()
        #expect(harness.violations.isEmpty)
    }

    @Test("in order of asking where that is wanted")
    func oldestFirst() {
        var harness = LoadMachineHarness(limits: Self.narrow, newestFirst: false)
        for request in 0..<4 { harness.subscribe(request) }
        var order: [Int] = []
        while let now = harness.downloads.first(where: { $0.value.stage == .lookingUp }) {
            order.append(now.value.request ?? -1)
            harness.fetchEnded(now.key, succeeded: false)
        }
        #expect(order == [0, 1, 2, 3])
        #expect(harness.violations.isEmpty)
    }

    @Test("in the order of asking, what is asked for again keeps its place within its level, and moves to a higher one")
    func keepsPlace() {
        var harness = LoadMachineHarness(limits: Self.narrow, newestFirst: false)
        for request in 0..<6 { harness.subscribe(request, request == 4 ? .low : .normal) }
        harness.subscribe(3)
        harness.subscribe(1)
        harness.subscribe(5, .high)
        harness.subscribe(4)
        var order: [Int] = []
        while let now = harness.downloads.first(where: { $0.value.stage == .lookingUp }) {
            order.append(now.value.request ?? -1)
            harness.fetchEnded(now.key, succeeded: false)
        }
        #expect(order == [0, 5, 1, 2, 3, 4])
        #expect(harness.violations.isEmpty)
    }

    @Test("in the order of asking, a parse keeps its place among those of its level, too")
    func parsesKeepPlace() {
        var harness = LoadMachineHarness(
            limits: .init(lookups: 2, network: .init(total: 2, perHost: 2), parses: 1), newestFirst: false)
        let names = ["first", "second", "third"]
        let subscribers = names.map { harness.subscribe(1, parse: $0) }
        let again = harness.subscribe(1, parse: "second")
        harness.fetchEnded(harness.downloads.keys.first ?? SlotID(slot: 0, number: 0), succeeded: true)
        while let parse = harness.runningParses.first { harness.parseEnded(parse) }
        #expect(harness.delivered == [subscribers[0], subscribers[1], again, subscribers[2]])
        #expect(harness.violations.isEmpty)
    }

    @Test("a name that is over means nothing, though its slot is used again")
    func staleNames() {
        var harness = LoadMachineHarness(limits: Self.small, hasGrace: true)
        let gone = harness.subscribe(1)
        let old = harness.downloads.keys.first ?? SlotID(slot: 0, number: 0)
        harness.fetchEnded(old, succeeded: false)
        let next = harness.subscribe(2)
        let new = harness.downloads.keys.first ?? SlotID(slot: 0, number: 0)
        #expect(next.slot == gone.slot && new.slot == old.slot)
        harness.unsubscribe(gone)
        harness.setPriority(.veryHigh, of: gone)
        harness.fetchEnded(old, succeeded: true)
        harness.rest(old)
        harness.wake(old)
        harness.fail(old)
        #expect(harness.downloads[new]?.stage == .lookingUp)
        harness.drain()
        #expect(harness.delivered == [gone, next])
        #expect(harness.violations.isEmpty)
    }

    @Test("something visible takes the slot of something speculative, which begins again later")
    func preemption() {
        var harness = LoadMachineHarness(limits: .init(lookups: 1, network: .init(total: 1, perHost: 1), parses: 1))
        let prefetch = harness.subscribe(1, .low)
        let download = harness.downloads.keys.first ?? SlotID(slot: 0, number: 0)
        harness.needsNetwork(download)
        #expect(harness.downloads[download]?.stage == .loading)
        harness.subscribe(2)
        let visible = harness.downloads.first { $0.value.request == 2 }?.key ?? SlotID(slot: 0, number: 0)
        harness.needsNetwork(visible)
        #expect(harness.downloads[visible]?.stage == .loading)
        harness.drain()
        #expect(harness.delivered.contains(prefetch))
        #expect(harness.violations.isEmpty)
    }

    @Test("within its grace a load without subscribers goes on, and ends after it")
    func grace() {
        var harness = LoadMachineHarness(limits: Self.small, hasGrace: true)
        harness.unsubscribe(harness.subscribe(1))
        let id = harness.downloads.keys.first ?? SlotID(slot: 0, number: 0)
        let token = harness.downloads[id]?.graceTokens.first ?? 0
        let back = harness.subscribe(1)
        harness.graceEnded(id, token: token)
        #expect(harness.downloads.keys.first == id)
        harness.unsubscribe(back)
        harness.graceEnded(id, token: harness.downloads[id]?.graceTokens.first ?? 0)
        #expect(harness.downloads.isEmpty)
        #expect(harness.violations.isEmpty)
    }
}
