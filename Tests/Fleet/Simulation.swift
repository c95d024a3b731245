import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import ValkeyCache

/// What a hundred machines and ten million responses cost, by the decisions that the fetches make: `CacheRules` and
/// `LeaseDecision`. Machines have a local level each, and share one level with leases.
///
/// Resources do not influence each other. So a few are simulated, and each stands for all of similar popularity. A load that
/// the local level answers changes nothing, and is counted without being simulated.
struct Simulation {
    static let machines = 100
    static let resources = 10_000_000
    /// Loads a second, of all machines.
    static let loads = 100_000.0
    /// Seconds: the lifetime of a response, the time that the origin takes, and a round trip to the shared level.
    static let (lifetime, originTime, roundTrip) = (600.0, 0.3, 0.001)

    struct Costs {
        var seconds = 0.0
        var originRequests = 0.0
        var expiries = 0.0
        var sharedRequests = 0.0
        /// Responses that replace another one, and those of them that the shared level announces to all machines.
        var replacements = 0.0
        var announcements = 0.0
        var waits = 0.0
        var waited = 0.0
        var slowest = 0.0
    }

    private enum Event {
        /// A machine needs a response that its local level does not have.
        case lookUp(Int, LeaseWait, since: Double)
        case response(Int, UInt64?)
    }

    private let rate: Double
    private let limits: RequestLeases?
    private let rules = CacheRules()
    private let request: CacheRequest
    private var random: SeededGenerator
    /// Until when the local level of each machine answers.
    private var freshUntil = [Double](repeating: -1, count: Self.machines)
    private var events: [(time: Double, event: Event)] = []
    private var shared: Candidate?
    private var holder: UInt64?
    private var lastToken: UInt64 = 0
    private var waiting: [(machine: Int, since: Double)] = []
    private var costs = Costs()

    init(rate: Double, limits: RequestLeases?, seed: UInt64) {
        (self.rate, self.limits, random) = (rate, limits, SeededGenerator(seed: seed))
        request = CacheRequest(url: URL(fileURLWithPath: "/x"))
        for machine in freshUntil.indices { scheduleLookup(machine, from: 0) }
    }

    /// Runs for a number of lifetimes.
    mutating func run(lifetimes: Double) -> Costs {
        costs.seconds = lifetimes * Self.lifetime
        while let index = events.indices.min(by: { events[$0].time < events[$1].time }),
            events[index].time < costs.seconds
        {
            let (time, event) = events.remove(at: index)
            switch event {
            case .lookUp(let machine, let wait, let since): lookUp(machine, wait, since: since, at: time)
            case .response(let machine, let token): receive(machine, token, at: time)
            }
        }
        return costs
    }

    private mutating func scheduleLookup(_ machine: Int, from time: Double) {
        let pause = -log(1 - Double.random(in: 0..<1, using: &random)) * Double(Self.machines) / rate
        let due = max(time, freshUntil[machine]) + pause
        events.append((due, .lookUp(machine, LeaseWait(), since: due)))
    }

    private mutating func lookUp(_ machine: Int, _ wait: LeaseWait, since: Double, at time: Double) {
        costs.sharedRequests += 1
        let stored = shared.map { [$0] } ?? []
        let decision = rules.decision(for: request, among: stored, at: Date(timeIntervalSince1970: time))
        if case .reuse(let selection) = decision { return keep(machine, -selection.freshness.staleness, at: time) }
        guard let limits, wait.asks(limits: limits),
            CacheRules.leaseKey(of: request, decision: decision, among: stored) != nil
        else { return send(machine, nil, at: time) }
        costs.sharedRequests += 1
        let answer: LeaseAnswer =
            holder == nil ? .granted(Lease(key: "", token: lastToken + 1, followsAnother: false)) : .held
        switch LeaseDecision(answer, after: wait, limits: limits) {
        case .send(let lease): send(machine, lease?.token, at: time)
        case .lookUp(let lease): send(machine, lease.token, at: time)
        case .wait:
            costs.waits += 1
            waiting.append((machine, since))
        }
    }

    private mutating func send(_ machine: Int, _ token: UInt64?, at time: Double) {
        if let token { (holder, lastToken) = (token, token) }
        costs.originRequests += 1
        events.append((time + Self.originTime, .response(machine, token)))
    }

    private mutating func receive(_ machine: Int, _ token: UInt64?, at time: Double) {
        if shared.map({ time - $0.response.responseTime.timeIntervalSince1970 > Self.lifetime / 2 }) ?? true {
            costs.expiries += 1
        }
        costs.sharedRequests += token == nil ? 1 : 2  // the store, and the release of the lease
        if let old = shared?.response.responseTime.timeIntervalSince1970 {
            costs.replacements += 1
            if time < old + Self.lifetime + Double(Script.slowestClock) { costs.announcements += 1 }
        }
        let moment = Date(timeIntervalSince1970: time)
        let fields = HTTPFields([("Cache-Control", "max-age=\(Int(Self.lifetime))")])
        let response = StoredResponse(
            url: request.url, method: "GET", selectingFields: HTTPFields(), status: 200, fields: fields,
            requestTime: moment.addingTimeInterval(-Self.originTime), responseTime: moment)
        shared = Candidate(response, bodySize: 20_000)
        keep(machine, Self.lifetime - Self.originTime, at: time)
        if let token, token == holder { holder = nil }
        for (machine, since) in waiting {
            costs.waited += time - since
            costs.slowest = max(costs.slowest, time - since)
            var wait = LeaseWait()
            (wait.total, wait.end) = (time - since, .released)
            events.append((time + Self.roundTrip, .lookUp(machine, wait, since: since)))
        }
        waiting = []
    }

    private mutating func keep(_ machine: Int, _ fresh: Double, at time: Double) {
        freshUntil[machine] = time + fresh
        scheduleLookup(machine, from: time)
    }

    // MARK: - The table

    static func printTable() {
        let harmonic = log(Double(resources)) + 0.5772
        var totals = (with: Costs(), without: Costs())
        print("rank        loads/s   origin requests/expiry   waits/expiry   longest wait   shared requests/expiry")
        print("                      leases      without")
        var rank = 1.0
        while rank < Double(resources) {
            let next = min(rank * 3.1622777, Double(resources))
            // All resources between the two ranks, at their mean rate.
            let count = max(1, next - rank)
            let rate = loads / harmonic * log(next / rank) / count
            var with = Simulation(rate: rate, limits: RequestLeases(), seed: 1)
            var without = Simulation(rate: rate, limits: nil, seed: 1)
            let costs = (with: with.run(lifetimes: 20), without: without.run(lifetimes: 20))
            row(rank, rate, costs.with, costs.without)
            add(costs.with, times: count, to: &totals.with)
            add(costs.without, times: count, to: &totals.without)
            rank = next
        }
        summary(totals.with, totals.without)
    }

    private static func row(_ rank: Double, _ rate: Double, _ with: Costs, _ without: Costs) {
        let expiries = max(1, with.expiries)
        let columns = [
            with.originRequests / expiries, without.originRequests / max(1, without.expiries), with.waits / expiries,
            with.slowest, with.sharedRequests / expiries,
        ].map { String(format: "%10.2f", $0) }
        print(
            String(format: "%9.0f %10.4f", rank, rate), columns[0], columns[1], "    " + columns[2], "   " + columns[3],
            "s       " + columns[4])
    }

    private static func add(_ costs: Costs, times count: Double, to total: inout Costs) {
        total.originRequests += costs.originRequests / costs.seconds * count
        total.sharedRequests += costs.sharedRequests / costs.seconds * count
        total.replacements += costs.replacements / costs.seconds * count
        total.announcements += costs.announcements / costs.seconds * count
        total.waits += costs.waits / costs.seconds * count
        total.waited += costs.waited / costs.seconds * count
        total.expiries += costs.expiries / costs.seconds * count
    }

    private static func summary(_ with: Costs, _ without: Costs) {
        let line = { (name: String, value: String) in
            print(name.padding(toLength: 46, withPad: " ", startingAt: 0) + value)
        }
        print("")
        line("loads a second", String(format: "%.0f", loads))
        line("requests to the shared level a second", String(format: "%.0f", with.sharedRequests))
        line("responses replaced a second", String(format: "%.0f", with.replacements))
        line("… and announced to each process a second", String(format: "%.1f", with.announcements))
        line("requests to the origin a second, with leases", String(format: "%.0f", with.originRequests))
        line("the same without leases", String(format: "%.0f", without.originRequests))
        line("loads that wait for another machine, a second", String(format: "%.1f", with.waits))
        line("… and how long, on average", String(format: "%.0f ms", with.waited / max(with.waits, 1e-9) * 1000))
        for size in [4, 20] {
            let bytes = Double(resources) * (Double(size << 10) + 700)
            // Each resource is loaded within the week for which the shared level keeps stale responses by default.
            line("memory for \(size) KB bodies, with stale ones", String(format: "%.0f GB", bytes / 1e9))
            let kept = min(1, with.expiries * lifetime / Double(resources))
            line("… and if only fresh ones are kept", String(format: "%.0f GB", bytes * kept / 1e9))
        }
    }
}
