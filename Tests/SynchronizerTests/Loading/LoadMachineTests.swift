import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The load machine", .bounded)
struct LoadMachineTests {
    typealias Machine = LoadMachineHarness.Machine
    static let narrow = Machine.Limits(lookups: 1, network: .init(total: 1, perHost: 1), parses: 1)
    static let small = Machine.Limits(lookups: 2, network: .init(total: 3, perHost: 2), parses: 2)

    @Test("two subscribers of one request share one load and one parse")
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
        harness.fetchEnded(harness.downloads.keys.first ?? RecordID(index: 0, number: 0), succeeded: true)
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

    @Test("the newest queued load starts first, and a new subscriber makes a load the newest")
    func newestFirst() {
        var harness = LoadMachineHarness(limits: Self.narrow)
        harness.subscribe(0)
        harness.subscribe(1)
        harness.subscribe(2)
        harness.subscribe(1)
        harness.fetchEnded(
            harness.downloads.first { $0.value.request == 0 }?.key ?? RecordID(index: 0, number: 0), succeeded: false)
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

    @Test("in first-come order a new subscriber keeps the load's place within its priority, and may raise its priority")
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
        harness.fetchEnded(harness.downloads.keys.first ?? RecordID(index: 0, number: 0), succeeded: true)
        while let parse = harness.runningParses.first { harness.parseEnded(parse) }
        #expect(harness.delivered == [subscribers[0], subscribers[1], again, subscribers[2]])
        #expect(harness.violations.isEmpty)
    }

    @Test("the ID of a finished load finds nothing, although its index is used again")
    func staleNames() {
        var harness = LoadMachineHarness(limits: Self.small, hasGrace: true)
        let gone = harness.subscribe(1)
        let old = harness.downloads.keys.first ?? RecordID(index: 0, number: 0)
        harness.fetchEnded(old, succeeded: false)
        let next = harness.subscribe(2)
        let new = harness.downloads.keys.first ?? RecordID(index: 0, number: 0)
        #expect(next.index == gone.index && new.index == old.index)
        harness.unsubscribe(gone)
        harness.setPriority(.veryHigh, of: gone)
        harness.fetchEnded(old, succeeded: true)
        harness.backOff(old)
        harness.backOffEnded(old)
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
        let download = harness.downloads.keys.first ?? RecordID(index: 0, number: 0)
        harness.needsNetwork(download)
        #expect(harness.downloads[download]?.stage == .loading)
        harness.subscribe(2)
        let visible = harness.downloads.first { $0.value.request == 2 }?.key ?? RecordID(index: 0, number: 0)
        harness.needsNetwork(visible)
        #expect(harness.downloads[visible]?.stage == .loading)
        harness.drain()
        #expect(harness.delivered.contains(prefetch))
        #expect(harness.violations.isEmpty)
    }

    @Test("a load without subscribers continues during its grace period, and ends after it")
    func grace() {
        var harness = LoadMachineHarness(limits: Self.small, hasGrace: true)
        harness.unsubscribe(harness.subscribe(1))
        let id = harness.downloads.keys.first ?? RecordID(index: 0, number: 0)
        let token = harness.downloads[id]?.graceTokens.first ?? 0
        let back = harness.subscribe(1)
        harness.graceEnded(id, token: token)
        #expect(harness.downloads.keys.first == id)
        harness.unsubscribe(back)
        harness.graceEnded(id, token: harness.downloads[id]?.graceTokens.first ?? 0)
        #expect(harness.downloads.isEmpty)
        #expect(harness.violations.isEmpty)
    }

    @Test("a closed load takes no new subscribers, and both loads are delivered")
    func closed() {
        var harness = LoadMachineHarness(limits: Self.small)
        let one = harness.subscribe(1)
        harness.closeToOthers(harness.download(1))
        let other = harness.subscribe(1)
        let third = harness.subscribe(1)
        #expect(harness.downloads.count == 2)
        harness.drain()
        #expect(Set(harness.delivered) == [one, other, third])
        #expect(harness.violations.isEmpty)
    }

    @Test("previews take parse slots that no parse needs, the most urgent first, and give way to parses")
    func previews() {
        var harness = LoadMachineHarness(
            limits: .init(lookups: 4, network: .init(total: 4, perHost: 4), parses: 1))
        for (request, priority) in [(1, LoadPriority.normal), (2, .high), (3, .normal)] {
            harness.subscribe(request, priority)
            harness.needsNetwork(harness.download(request))
        }
        let parses = harness.parses.keys
        harness.previewIsDue(parses[0])
        #expect(harness.runningPreviews == [parses[0]])
        harness.previewIsDue(parses[2])
        harness.previewIsDue(parses[1])
        harness.fetchEnded(harness.download(3), succeeded: true)
        #expect(harness.runningParses.isEmpty)
        #expect(harness.stoppedPreviews == [parses[0]])
        harness.previewEnded(parses[0])
        #expect(harness.runningParses == [parses[2]])
        harness.parseEnded(parses[2])
        #expect(harness.runningPreviews == [parses[1]])
        harness.drain()
        #expect(harness.violations.isEmpty)
    }

    @Test("while bodies wait to be parsed, only more urgent loads start, not newer ones")
    func backlog() {
        var harness = LoadMachineHarness(
            limits: .init(lookups: 9, network: .init(total: 9, perHost: 9), parses: 1))
        for request in 1...3 {
            harness.subscribe(request, .normal)
            harness.fetchEnded(harness.download(request), succeeded: true)
        }
        for (request, priority) in [(4, LoadPriority.low), (6, .normal)] {
            harness.subscribe(request, priority)
            #expect(harness.downloads[harness.download(request)]?.stage == .waitingToLookUp)
        }
        harness.subscribe(5, .high)
        #expect(harness.downloads[harness.download(5)]?.stage == .lookingUp)
        harness.needsNetwork(harness.download(5))
        #expect(harness.downloads[harness.download(5)]?.stage == .loading)
        harness.drain()
        #expect(harness.violations.isEmpty)
    }

    @Test("a host whose visible load must wait behind bodies does not keep another's from its slot")
    func backlogAndPreemption() {
        var harness = LoadMachineHarness(
            limits: .init(lookups: 9, network: .init(total: 2, perHost: 1), parses: 1))
        for (request, host) in [(1, "a"), (2, "b")] {
            harness.subscribe(request, host: host, .low)
            harness.needsNetwork(harness.download(request))
        }
        harness.subscribe(3, host: "a", .normal)
        for request in 4...6 {
            harness.subscribe(request, host: "c", .normal)
            harness.fetchEnded(harness.download(request), succeeded: true)
        }
        harness.needsNetwork(harness.download(3))
        #expect(harness.downloads[harness.download(1)]?.stage == .loading)
        harness.subscribe(7, host: "b", .high)
        harness.needsNetwork(harness.download(7))
        #expect(harness.downloads[harness.download(7)]?.stage == .loading)
        harness.drain()
        #expect(harness.violations.isEmpty)
    }
}

extension LoadMachineHarness {
    /// The newest load of that request.
    func download(_ request: Int) -> RecordID {
        downloads.keys.last { downloads[$0]?.request == request } ?? RecordID(index: 0, number: 0)
    }
}
