@testable import Synchronizer

/// Drives a `LoadMachine` as its shell does, keeps its own simple account of what must be true, and names what is not.
struct LoadMachineHarness {
    typealias Machine = LoadMachine<Int, String>

    struct Download {
        let request: Int?
        let host: String
        var stage = Stage.waitingToLookUp
        var subscribers: Set<Int> = []
        var turn: Int
        var graceTokens: Set<Int> = []
    }

    enum Stage { case waitingToLookUp, lookingUp, waitingForNetwork, loading, arrived, resting }

    struct Subscriber {
        let download: Int
        let parse: Int
        var priority: LoadPriority
    }

    let limits: Machine.Limits
    let newestFirst: Bool
    let hasGrace: Bool
    private(set) var machine: Machine
    private(set) var downloads: [Int: Download] = [:]
    private(set) var live: [Int: Subscriber] = [:]
    private(set) var delivered: Set<Int> = []
    private(set) var left: Set<Int> = []
    private(set) var runningParses: Set<Int> = []
    private(set) var parsesOf: [Int: Int] = [:]
    private(set) var violations: [String] = []
    private(set) var log: [String] = []
    private var turn = 0

    init(limits: Machine.Limits, newestFirst: Bool = true, hasGrace: Bool = false) {
        self.limits = limits
        self.newestFirst = newestFirst
        self.hasGrace = hasGrace
        machine = Machine(limits: limits, newestFirst: newestFirst, hasGrace: hasGrace)
    }

    // MARK: - Events

    @discardableResult
    mutating func subscribe(_ request: Int?, parse: String = "", host: String = "a", _ priority: LoadPriority = .normal)
        -> Int
    {
        let place = machine.subscribe(
            request: request, parse: request == nil ? nil : parse, host: host, priority: priority)
        turn += 1
        if place.isNewDownload { downloads[place.download] = Download(request: request, host: host, turn: turn) }
        expect(downloads[place.download] != nil, "joined a download that is gone")
        expect(downloads[place.download]?.request == request, "joined another request")
        downloads[place.download]?.turn = turn
        downloads[place.download]?.subscribers.insert(place.subscriber)
        downloads[place.download]?.graceTokens = []
        parsesOf[place.parse] = place.download
        live[place.subscriber] = Subscriber(download: place.download, parse: place.parse, priority: priority)
        step("subscribe \(request.map(String.init) ?? "-") \(parse) \(host) \(priority)")
        return place.subscriber
    }

    mutating func unsubscribe(_ id: Int) {
        if let subscriber = live.removeValue(forKey: id) {
            left.insert(id)
            downloads[subscriber.download]?.subscribers.remove(id)
        }
        machine.unsubscribe(id)
        step("unsubscribe \(id)")
    }

    mutating func setPriority(_ priority: LoadPriority, of id: Int) {
        live[id]?.priority = priority
        machine.setPriority(priority, of: id)
        step("setPriority \(priority) \(id)")
    }

    mutating func needsNetwork(_ id: Int) {
        downloads[id]?.stage = .waitingForNetwork
        machine.needsNetwork(id)
        step("needsNetwork \(id)")
    }

    mutating func fetchEnded(_ id: Int, succeeded: Bool) {
        downloads[id]?.stage = .arrived
        machine.fetchEnded(id, succeeded: succeeded)
        step("fetchEnded \(id) \(succeeded)")
    }

    mutating func rest(_ id: Int) {
        downloads[id]?.stage = .resting
        machine.rest(id)
        step("rest \(id)")
    }

    mutating func wake(_ id: Int) {
        if downloads[id]?.stage == .resting { downloads[id]?.stage = .waitingToLookUp }
        machine.wake(id)
        step("wake \(id)")
    }

    mutating func parseEnded(_ id: Int) {
        runningParses.remove(id)
        machine.parseEnded(id)
        step("parseEnded \(id)")
    }

    mutating func graceEnded(_ id: Int, token: Int) {
        machine.graceEnded(id, token: token)
        step("graceEnded \(id)")
    }

    // MARK: - Account

    private mutating func expect(_ condition: Bool, _ complaint: @autoclosure () -> String) {
        if !condition { violations.append("\(complaint()) after \(log.suffix(12))") }
    }

    private mutating func step(_ event: String) {
        log.append(event)
        for action in machine.takeActions() { account(for: action) }
        checkInvariants()
    }

    private mutating func account(for action: Machine.Action) {
        switch action {
        case .lookUp(let id):
            expect(downloads[id]?.stage == .waitingToLookUp, "looked up twice: \(id)")
            checkOrder(of: id, among: .waitingToLookUp)
            downloads[id]?.stage = .lookingUp
        case .proceed(let id):
            expect(downloads[id]?.stage == .waitingForNetwork, "proceeded without need: \(id)")
            checkOrder(of: id, among: .waitingForNetwork)
            downloads[id]?.stage = .loading
        case .restart(let id):
            expect(downloads[id]?.stage == .loading, "restarted while not loading: \(id)")
            expect(!(priority(of: id)?.isVisible ?? false), "a visible load was preempted: \(id)")
            downloads[id]?.stage = .waitingToLookUp
        case .release(let id):
            expect(downloads[id]?.subscribers.isEmpty ?? false, "released with subscribers: \(id)")
            downloads[id] = nil
        case .beginGrace(let id, let token):
            expect(hasGrace, "grace without grace")
            downloads[id]?.graceTokens.insert(token)
        case .parse(let id):
            expect(runningParses.insert(id).inserted, "parsed twice: \(id)")
            expect(parsesOf[id].flatMap { downloads[$0]?.stage } == .arrived, "parsed before it arrived: \(id)")
        case .abandon(let id):
            expect(runningParses.contains(id), "abandoned while not running: \(id)")
            expect(!live.values.contains { $0.parse == id }, "abandoned with subscribers: \(id)")
        case .deliver(let id, let subscribers):
            for subscriber in subscribers { deliver(to: subscriber, of: id) }
        }
    }

    private mutating func deliver(to subscriber: Int, of parse: Int) {
        expect(live[subscriber]?.parse == parse, "delivered to somebody who is not there: \(subscriber)")
        expect(delivered.insert(subscriber).inserted, "delivered twice: \(subscriber)")
        if let gone = live.removeValue(forKey: subscriber) { downloads[gone.download]?.subscribers.remove(subscriber) }
    }

    private func priority(of download: Int) -> LoadPriority? {
        downloads[download]?.subscribers.compactMap { live[$0]?.priority }.max()
    }

    private func rank(of id: Int) -> LoadRank {
        LoadRank(priority: priority(of: id) ?? .veryLow, turn: (downloads[id]?.turn ?? 0) * (newestFirst ? 1 : -1))
    }

    /// Nothing better may be waiting: for the network, among what its host lets start.
    private mutating func checkOrder(of id: Int, among stage: Stage) {
        let chosen = rank(of: id)
        let better = downloads.filter { other, download in
            guard download.stage == stage, other != id, !download.subscribers.isEmpty, chosen < rank(of: other) else {
                return false
            }
            return stage != .waitingForNetwork || loading(on: download.host) < limits.network.perHost
        }
        expect(better.isEmpty, "\(id) came before \(better.keys.sorted())")
    }

    private func count(_ stage: Stage) -> Int { downloads.values.filter { $0.stage == stage }.count }

    private func loading(on host: String) -> Int {
        downloads.values.filter { $0.stage == .loading && $0.host == host }.count
    }

    private mutating func checkInvariants() {
        expect(count(.lookingUp) <= limits.lookups, "too many look-ups")
        expect(count(.loading) <= limits.network.total, "too many loads")
        expect(runningParses.count <= limits.parses, "too many parses")
        for host in Set(downloads.values.map(\.host)) {
            expect(loading(on: host) <= limits.network.perHost, "too many loads on \(host)")
        }
        for (id, download) in downloads where download.subscribers.isEmpty {
            expect(hasGrace && !download.graceTokens.isEmpty, "kept without subscribers: \(id)")
        }
        checkNothingIdles()
    }

    /// What may start has started, and nothing visible waits for something speculative.
    private mutating func checkNothingIdles() {
        let waiting = downloads.filter { $0.value.stage == .waitingForNetwork && !$0.value.subscribers.isEmpty }
        for (id, download) in waiting where priority(of: id)?.isVisible ?? false {
            let free = count(.loading) < limits.network.total && loading(on: download.host) < limits.network.perHost
            expect(!free, "\(id) waits though it may start")
            let speculative = downloads.filter {
                $0.value.stage == .loading && !(priority(of: $0.key)?.isVisible ?? false)
            }
            let blocked = loading(on: download.host) >= limits.network.perHost
            expect(
                !speculative.contains { !blocked || $0.value.host == download.host },
                "\(id) waits for speculative loads")
        }
        let mayLookUp = downloads.contains { $0.value.stage == .waitingToLookUp }
        expect(!mayLookUp || count(.lookingUp) == limits.lookups, "a look-up waits though it may start")
    }

    /// Ends everything that is under way, until nothing is left.
    mutating func drain() {
        for id in downloads.filter({ $0.value.stage == .resting }).keys.sorted() { wake(id) }
        while let id = downloads.filter({ $0.value.stage == .lookingUp || $0.value.stage == .loading }).keys.min() {
            fetchEnded(id, succeeded: true)
            endParses()
        }
        endParses()
        for (id, download) in downloads { download.graceTokens.forEach { graceEnded(id, token: $0) } }
        let (unanswered, remaining) = (live.keys.sorted(), downloads.keys.sorted())
        expect(unanswered.isEmpty, "never answered: \(unanswered)")
        expect(remaining.isEmpty, "left behind: \(remaining)")
        expect(machine.isIdle, "the machine is not idle at the end")
    }

    private mutating func endParses() {
        while let parse = runningParses.min() { parseEnded(parse) }
    }
}
