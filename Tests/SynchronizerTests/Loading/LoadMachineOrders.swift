import TestTraits
import Testing

@testable import Synchronizer

@Suite("The load machine, in every order of events", .bounded)
struct LoadMachineOrders {
    typealias Machine = LoadMachineHarness.Machine

    /// Something that happens once: to the request, or to the caller, of that number.
    enum Happening: Hashable, Sendable {
        case ask(Int, LoadPriority, parse: String = "")
        /// The caller with that number (in the order of asking) cancels, or changes the priority.
        case leave(Int)
        case prioritize(Int, LoadPriority)
        case missesCache(Int)
        case arrives(Int)
        case fails(Int)
        case isToBeRetried(Int)
        case wakes(Int)
        case parseEnds
        case graceEnds(Int)
    }

    static let cases: KeyValuePairs<String, [Happening]> = [
        "one load, one caller": [
            .ask(0, .normal), .missesCache(0), .isToBeRetried(0), .wakes(0), .arrives(0), .parseEnds, .leave(0),
        ],
        "one load, two callers": [
            .ask(0, .low), .ask(0, .high), .leave(0), .leave(1), .missesCache(0), .arrives(0), .parseEnds,
        ],
        "one load, three callers": [
            .ask(0, .normal), .ask(0, .low), .ask(0, .normal), .leave(0), .leave(1), .arrives(0), .parseEnds,
        ],
        "a caller who leaves and comes back": [
            .ask(0, .normal), .leave(0), .ask(0, .normal), .graceEnds(0), .missesCache(0), .arrives(0), .leave(1),
        ],
        "two parses of one load": [
            .ask(0, .normal), .ask(0, .normal, parse: "small"), .arrives(0), .parseEnds, .parseEnds, .leave(0),
            .leave(1),
        ],
        "a parse that is abandoned, and asked for anew": [
            .ask(0, .normal), .ask(0, .normal, parse: "small"), .arrives(0), .leave(0), .ask(0, .normal),
            .parseEnds,
            .parseEnds,
        ],
        "two loads": [
            .ask(0, .normal), .ask(1, .normal), .missesCache(0), .missesCache(1), .arrives(0), .fails(1), .leave(0),
        ],
        "something visible and something speculative": [
            .ask(0, .veryLow), .ask(1, .normal), .missesCache(0), .missesCache(1), .arrives(1), .missesCache(0),
            .arrives(0),
        ],
        "a prefetch that is asked for": [
            .ask(0, .low), .ask(1, .normal), .missesCache(0), .missesCache(1), .ask(0, .high), .arrives(0),
            .leave(2),
        ],
        "a change of priorities": [
            .ask(0, .normal), .ask(1, .normal), .prioritize(0, .veryLow), .prioritize(1, .veryHigh),
            .missesCache(0),
            .missesCache(1), .arrives(1),
        ],
        "three loads": [
            .ask(0, .normal), .ask(1, .low), .ask(2, .high), .missesCache(0), .missesCache(1), .missesCache(2),
            .leave(2),
        ],
        "a retry without subscribers": [
            .ask(0, .normal), .ask(0, .normal), .isToBeRetried(0), .leave(0), .leave(1), .wakes(0), .graceEnds(0),
        ],
    ]

    struct Setting {
        let limit: Int
        let newestFirst: Bool
        let hasGrace: Bool

        static let all = [1, 2].flatMap { limit in
            [(false, false), (false, true), (true, false), (true, true)].map {
                Setting(limit: limit, newestFirst: $0.0, hasGrace: $0.1)
            }
        }

        var harness: LoadMachineHarness {
            LoadMachineHarness(
                limits: .init(lookups: limit, network: .init(total: limit, perHost: 1), parses: limit),
                newestFirst: newestFirst, hasGrace: hasGrace)
        }
    }

    @Test("every order keeps every invariant and leaves nothing", arguments: 0..<cases.count)
    func orders(number: Int) {
        for setting in Setting.all {
            var walk = Walk()
            walk.go(on: setting.harness, Self.cases[number].value)
            if let violation = walk.violation {
                Issue.record("\(Self.cases[number].key): \(violation)")
                return
            }
            #expect(walk.ends > 10)
        }
    }

    /// Goes through all orders, as a tree whose branches share their beginning. An event that cannot happen yet waits.
    struct Walk {
        private(set) var violation: String?
        private(set) var ends = 0

        mutating func go(on harness: LoadMachineHarness, asked: [RecordID] = [], _ remaining: [Happening]) {
            guard violation == nil else { return }
            var isEnd = true
            for (index, happening) in remaining.enumerated() where !remaining[..<index].contains(happening) {
                var (next, nextAsked) = (harness, asked)
                guard next.happen(happening, &nextAsked) else { continue }
                isEnd = false
                var rest = remaining
                rest.remove(at: index)
                go(on: next, asked: nextAsked, rest)
            }
            if isEnd { end(harness) }
        }

        private mutating func end(_ harness: LoadMachineHarness) {
            var harness = harness
            harness.drain()
            ends += 1
            violation = harness.violations.first
        }
    }
}

extension LoadMachineHarness {
    /// Lets it happen, if it can happen now.
    mutating func happen(_ happening: LoadMachineOrders.Happening, _ asked: inout [RecordID]) -> Bool {
        switch happening {
        case .ask(let request, let priority, let parse):
            asked.append(subscribe(request, parse: parse, host: request == 2 ? "b" : "a", priority))
        case .leave(let caller):
            guard caller < asked.count else { return false }
            unsubscribe(asked[caller])
        case .prioritize(let caller, let priority):
            guard caller < asked.count else { return false }
            setPriority(priority, of: asked[caller])
        case .missesCache(let request):
            guard let id = download(of: request, in: [.lookingUp]) else { return false }
            needsNetwork(id)
        case .arrives(let request):
            guard let id = download(of: request, in: [.lookingUp, .loading]) else { return false }
            fetchEnded(id, succeeded: true)
        case .fails(let request):
            guard let id = download(of: request, in: [.lookingUp, .loading]) else { return false }
            fetchEnded(id, succeeded: false)
        case .isToBeRetried(let request):
            guard let id = download(of: request, in: [.lookingUp, .loading]) else { return false }
            backOff(id)
        case .wakes(let request):
            guard let id = download(of: request, in: [.backingOff]) else { return false }
            backOffEnded(id)
        case .parseEnds:
            guard let id = runningParses.first else { return false }
            parseEnded(id)
        case .graceEnds(let request):
            guard let (id, download) = downloads.first(where: { $0.value.request == request }),
                let token = download.graceTokens.last
            else { return false }
            graceEnded(id, token: token)
        }
        return true
    }

    private func download(of request: Int, in stages: [Stage]) -> RecordID? {
        downloads.first { $0.value.request == request && stages.contains($0.value.stage) }?.key
    }
}
