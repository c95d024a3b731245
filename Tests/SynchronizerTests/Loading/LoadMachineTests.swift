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
        harness.fetchEnded(harness.downloads.keys.min() ?? 0, succeeded: true)
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
        let first = harness.subscribe(1)
        harness.subscribe(2)
        let again = harness.subscribe(1)
        harness.fetchEnded(harness.downloads.first { $0.value.request == 0 }?.key ?? 0, succeeded: false)
        let now = harness.downloads.first { $0.value.stage == .lookingUp }?.value
        #expect(now?.subscribers == [first, again])
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

    @Test("something visible takes the slot of something speculative, which begins again later")
    func preemption() {
        var harness = LoadMachineHarness(limits: .init(lookups: 1, network: .init(total: 1, perHost: 1), parses: 1))
        let prefetch = harness.subscribe(1, .low)
        let download = harness.downloads.keys.min() ?? 0
        harness.needsNetwork(download)
        #expect(harness.downloads[download]?.stage == .loading)
        harness.subscribe(2)
        let visible = harness.downloads.first { $0.value.request == 2 }?.key ?? 0
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
        let id = harness.downloads.keys.min() ?? 0
        let token = harness.downloads[id]?.graceTokens.first ?? 0
        let back = harness.subscribe(1)
        harness.graceEnded(id, token: token)
        #expect(harness.downloads.keys.min() == id)
        harness.unsubscribe(back)
        harness.graceEnded(id, token: harness.downloads[id]?.graceTokens.first ?? 0)
        #expect(harness.downloads.isEmpty)
        #expect(harness.violations.isEmpty)
    }

    @Test("random walks keep every invariant and leave nothing", arguments: [false, true], [false, true])
    func randomWalks(newestFirst: Bool, hasGrace: Bool) {
        var generator = SeededGenerator(seed: hasGrace ? 1 : 2)
        for _ in 0..<1_000 {
            var harness = LoadMachineHarness(limits: Self.small, newestFirst: newestFirst, hasGrace: hasGrace)
            for _ in 0..<40 { harness.randomEvent(&generator) }
            harness.drain()
            #expect(harness.violations.isEmpty)
            if !harness.violations.isEmpty { return }
        }
    }
}

extension LoadMachineHarness {
    /// One event that may happen now.
    mutating func randomEvent(_ generator: inout SeededGenerator) {
        let priority = LoadPriority.allCases.randomElement(using: &generator) ?? .normal
        let lookingUp = downloads.filter { $0.value.stage == .lookingUp }.keys.sorted()
        let loading = downloads.filter { $0.value.stage == .loading }.keys.sorted()
        switch Int.random(in: 0..<14, using: &generator) {
        case 0...3:
            let request = Int.random(in: 0..<9, using: &generator)
            subscribe(
                request == 8 ? nil : request, parse: ["", "small"].randomElement(using: &generator) ?? "",
                host: ["a", "b", "c"][request % 3], priority)
        case 4, 5:
            if let id = live.keys.sorted().randomElement(using: &generator) { unsubscribe(id) }
        case 6:
            if let id = live.keys.sorted().randomElement(using: &generator) { setPriority(priority, of: id) }
        case 7, 8:
            if let id = lookingUp.randomElement(using: &generator) { needsNetwork(id) }
        case 9:
            if let id = (lookingUp + loading).randomElement(using: &generator) {
                fetchEnded(id, succeeded: Bool.random(using: &generator))
            }
        case 10:
            if let id = (lookingUp + loading).randomElement(using: &generator) { rest(id) }
        case 11:
            let resting = downloads.filter { $0.value.stage == .resting }.keys.sorted()
            if let id = resting.randomElement(using: &generator) { wake(id) }
        case 12:
            if let id = runningParses.sorted().randomElement(using: &generator) { parseEnded(id) }
        default:
            let graces = downloads.flatMap { id, download in download.graceTokens.map { (id, $0) } }
            if let (id, token) = graces.sorted(by: { $0 < $1 }).randomElement(using: &generator) {
                graceEnded(id, token: token)
            }
        }
    }
}
