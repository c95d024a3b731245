/// Which loads wait, run, share and end: a pure state machine. Events go in, actions come out; it has no lock, no clock
/// and no queue, so that a test can put it through every interleaving.
///
/// A *subscriber* waits for a *parse*; a parse waits for a *download*. Subscribers of equal parse keys share the parse,
/// parses of equal request keys share the download. A download first looks into the cache, and needs a turn on the
/// network only if that does not answer.
///
///     subscribe ─→ waitingToLookUp ─→ lookingUp ─→ waitingForNetwork ─→ loading ─→ arrived ─→ parses ─→ deliver
///                                         └────────────── answered by the cache ────↗
struct LoadMachine<RequestKey: Hashable & Sendable, ParseKey: Hashable & Sendable>: Sendable {
    typealias SubscriberID = Int
    typealias ParseID = Int
    typealias DownloadID = Int

    private enum Stage: Hashable, Sendable {
        case waitingToLookUp, lookingUp, waitingForNetwork, loading, arrived
        /// Would wait for the network if somebody waited for it: kept for its grace.
        case parked
        /// Has failed, and will be tried again after a while.
        case resting
    }

    private struct Download: Sendable {
        let key: RequestKey?
        let host: String
        var turn: Int
        var stage = Stage.waitingToLookUp
        var parses = FewIDs()
        var priorities = PriorityCounts()
        /// Set while it has no subscriber and is kept for its grace.
        var graceToken: Int?
    }

    private struct Parse: Sendable {
        let key: ParseKey?
        let download: DownloadID
        var subscribers = FewIDs()
        var priorities = PriorityCounts()
        var turn: Int
        /// Whether it needs no turn, because it takes less time than handing out turns.
        let isQuick: Bool
        var isRunning = false
    }

    private struct Subscriber: Sendable {
        let parse: ParseID
        var priority: LoadPriority
    }

    private let limits: Limits
    private let newestFirst: Bool
    private let hasGrace: Bool
    private var lastID = 0
    private var downloads: [DownloadID: Download] = [:]
    private var parses: [ParseID: Parse] = [:]
    private var subscribers: [SubscriberID: Subscriber] = [:]
    private var shared: [RequestKey: DownloadID] = [:]
    private var lookups = IndexedHeap<DownloadID, LoadRank>()
    private var lookupsRunning = 0
    private var network: NetworkQueue
    private var waitingParses = IndexedHeap<ParseID, LoadRank>()
    /// Parses under way, abandoned ones included: they hold their thread until they notice.
    private var parsesRunning = 0
    /// Quick parses under way, which do not count among them.
    private var quickParses: Set<ParseID> = []
    private var abandoned: Set<ParseID> = []
    /// Visible downloads that have not arrived yet, and do not rest.
    private var visibleCount = 0
    private var actions: [Action] = []

    init(limits: Limits, newestFirst: Bool = true, hasGrace: Bool = false) {
        self.limits = limits
        self.newestFirst = newestFirst
        self.hasGrace = hasGrace
        network = NetworkQueue(limits: limits.network)
    }

    /// Whether nothing is kept of any load.
    var isIdle: Bool {
        downloads.isEmpty && parses.isEmpty && subscribers.isEmpty && shared.isEmpty && lookups.isEmpty
            && network.isIdle && waitingParses.isEmpty && abandoned.isEmpty && lookupsRunning == 0
            && parsesRunning == 0 && quickParses.isEmpty && visibleCount == 0
    }

    /// Whether there is room for another load on the network.
    var hasRoom: Bool { network.mayStart }

    func parses(of download: DownloadID) -> [ParseID] { downloads[download]?.parses.all ?? [] }

    func subscribers(of parse: ParseID) -> [SubscriberID] { parses[parse]?.subscribers.all ?? [] }

    // MARK: - Events

    /// Somebody asks. A nil request key shares with nobody.
    mutating func subscribe(
        request: RequestKey?, parse parseKey: ParseKey?, isQuick: Bool = false, host: @autoclosure () -> String,
        priority: LoadPriority
    ) -> Place {
        let turn = nextID()
        let joined = request.flatMap { shared[$0] }
        let download = joined ?? add(Download(key: request, host: host(), turn: turn))
        let joinedParse = parseKey.flatMap { key in downloads[download]?.parses.all.first { parses[$0]?.key == key } }
        let parse =
            joinedParse ?? add(Parse(key: parseKey, download: download, turn: turn, isQuick: isQuick), to: download)
        let subscriber = nextID()
        subscribers[subscriber] = Subscriber(parse: parse, priority: priority)
        parses[parse]?.subscribers.insert(subscriber)
        let isPromoted = newestFirst
        if isPromoted { parses[parse]?.turn = turn }
        change(download) { download in
            if isPromoted { download.turn = turn }
            download.graceToken = nil
            download.priorities.add(priority)
        }
        parses[parse]?.priorities.add(priority)
        enqueue(parse)
        return Place(
            subscriber: subscriber, parse: parse, isNewParse: joinedParse == nil,
            download: download, isNewDownload: joined == nil)
    }

    /// A subscriber leaves. Without effect if it has been delivered to, or has left.
    mutating func unsubscribe(_ id: SubscriberID) {
        guard let subscriber = subscribers.removeValue(forKey: id), let parse = parses[subscriber.parse] else { return }
        parses[subscriber.parse]?.subscribers.remove(id)
        parses[subscriber.parse]?.priorities.remove(subscriber.priority)
        change(parse.download) { $0.priorities.remove(subscriber.priority) }
        if parse.subscribers.count > 1 {
            enqueue(subscriber.parse)
        } else {
            abandon(subscriber.parse)
        }
    }

    mutating func setPriority(_ priority: LoadPriority, of id: SubscriberID) {
        guard let subscriber = subscribers[id], let parse = parses[subscriber.parse] else { return }
        subscribers[id]?.priority = priority
        parses[subscriber.parse]?.priorities.remove(subscriber.priority)
        parses[subscriber.parse]?.priorities.add(priority)
        change(parse.download) { download in
            download.priorities.remove(subscriber.priority)
            download.priorities.add(priority)
        }
        enqueue(subscriber.parse)
    }

    /// The cache does not answer.
    mutating func needsNetwork(_ id: DownloadID) {
        guard let download = downloads[id], download.stage == .lookingUp else { return }
        lookupsRunning -= 1
        change(id) { $0.stage = download.graceToken == nil ? .waitingForNetwork : .parked }
    }

    /// The fetch has ended: with a body to parse, or with an error for all.
    mutating func fetchEnded(_ id: DownloadID, succeeded: Bool) {
        guard let download = downloads[id], download.stage == .lookingUp || download.stage == .loading else { return }
        leaveStage(of: download, id)
        if download.stage == .loading { network.waste.ended() }
        change(id) { $0.stage = .arrived }
        if succeeded, !download.parses.isEmpty {
            download.parses.all.forEach { enqueue($0) }
        } else {
            download.parses.all.forEach { deliver($0) }
            release(id)
        }
    }

    /// The download is given up, at whatever stage it is; without effect once its body is there.
    mutating func fail(_ id: DownloadID) {
        guard let download = downloads[id], download.stage != .arrived else { return }
        leaveStage(of: download, id)
        if download.stage == .loading { network.waste.ended() }
        change(id) { $0.stage = .arrived }
        download.parses.all.forEach { deliver($0) }
        release(id)
    }

    /// The fetch has failed and is to be tried again: the download gives its slot away until `wake`.
    mutating func rest(_ id: DownloadID) {
        guard let download = downloads[id], download.stage == .lookingUp || download.stage == .loading else { return }
        leaveStage(of: download, id)
        change(id) { $0.stage = .resting }
        if download.parses.isEmpty { release(id) }
    }

    /// Nobody joins the download any more; who asks for the same begins another.
    mutating func closeToOthers(_ id: DownloadID) {
        if let key = downloads[id]?.key, shared[key] == id { shared[key] = nil }
    }

    mutating func wake(_ id: DownloadID) {
        guard let download = downloads[id], download.stage == .resting else { return }
        change(id) { $0.stage = .waitingToLookUp }
    }

    mutating func parseEnded(_ id: ParseID) {
        if quickParses.remove(id) == nil { parsesRunning -= 1 }
        if abandoned.remove(id) != nil { return }
        guard let parse = parses[id] else { return }
        deliver(id)
        releaseIfDone(parse.download)
    }

    /// The moment of grace is over: the download ends, unless somebody has joined meanwhile.
    mutating func graceEnded(_ id: DownloadID, token: Int) {
        if downloads[id]?.graceToken == token { release(id) }
    }

    mutating func pauseEnded(token: Int) {
        if let next = network.waste.pauseEnded(token) { actions.append(.beginPause(token: next)) }
    }

    /// What is to be done now; asks for nothing twice.
    mutating func takeActions() -> [Action] {
        startWhatMay()
        defer { actions = [] }
        return actions
    }

    // MARK: - Downloads and parses

    private mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    private mutating func add(_ download: Download) -> DownloadID {
        let id = nextID()
        downloads[id] = download
        if let key = download.key { shared[key] = id }
        return id
    }

    private mutating func add(_ parse: Parse, to download: DownloadID) -> ParseID {
        let id = nextID()
        parses[id] = parse
        downloads[download]?.parses.insert(id)
        return id
    }

    /// Takes the parse out: nobody waits for it any more.
    private mutating func abandon(_ id: ParseID) {
        guard let parse = parses.removeValue(forKey: id) else { return }
        waitingParses.remove(id)
        if parse.isRunning {
            abandoned.insert(id)
            actions.append(.abandon(id))
        } else {
            actions.append(.deliver(id, to: []))
        }
        downloads[parse.download]?.parses.remove(id)
        releaseIfDone(parse.download)
    }

    private mutating func deliver(_ id: ParseID) {
        guard let parse = parses.removeValue(forKey: id) else { return }
        downloads[parse.download]?.parses.remove(id)
        let waiting = parse.subscribers.all
        for subscriber in waiting {
            guard let subscriber = subscribers.removeValue(forKey: subscriber) else { continue }
            change(parse.download) { $0.priorities.remove(subscriber.priority) }
        }
        actions.append(.deliver(id, to: waiting))
    }

    private mutating func releaseIfDone(_ id: DownloadID) {
        guard let download = downloads[id], download.parses.isEmpty else { return }
        let mayLinger = [.lookingUp, .waitingForNetwork, .loading, .parked].contains(download.stage)
        guard hasGrace, mayLinger else { return release(id) }
        let token = nextID()
        change(id) { download in
            download.graceToken = token
            if download.stage == .waitingForNetwork { download.stage = .parked }
        }
        actions.append(.beginGrace(id, token: token))
    }

    private mutating func release(_ id: DownloadID) {
        guard let download = downloads[id] else { return }
        leaveStage(of: download, id)
        noteWaste(of: download)
        noteVisibility(from: download, to: nil)
        downloads[id] = nil
        if let key = download.key, shared[key] == id { shared[key] = nil }
        actions.append(.release(id))
    }

    /// What has not arrived is released because nobody waits for it any more.
    private mutating func noteWaste(of download: Download) {
        guard download.stage != .arrived else { return }
        network.waste.left()
        if download.stage == .loading, let token = network.waste.cancelled() {
            actions.append(.beginPause(token: token))
        }
    }

    // MARK: - Queues

    /// Changes a download and keeps its places in the queues in step.
    private mutating func change(_ id: DownloadID, _ body: (inout Download) -> Void) {
        guard let old = downloads[id] else { return }
        var new = old
        body(&new)
        if new.stage == .parked, new.graceToken == nil { new.stage = .waitingForNetwork }
        downloads[id] = new
        noteVisibility(from: old, to: new)
        if old.stage == .waitingForNetwork, new.stage != .waitingForNetwork { network.stopWaiting(id, host: old.host) }
        switch new.stage {
        case .waitingToLookUp: lookups.set(id, rank: rank(of: new))
        case .waitingForNetwork: network.wait(id, host: new.host, rank: rank(of: new))
        case .loading: network.rerank(running: id, rank: rank(of: new))
        case .lookingUp, .arrived, .parked, .resting: break
        }
    }

    private mutating func leaveStage(of download: Download, _ id: DownloadID) {
        switch download.stage {
        case .waitingToLookUp: lookups.remove(id)
        case .lookingUp: lookupsRunning -= 1
        case .waitingForNetwork: network.stopWaiting(id, host: download.host)
        case .loading: network.end(id)
        case .arrived, .parked, .resting: break
        }
    }

    private mutating func enqueue(_ id: ParseID) {
        guard let parse = parses[id], !parse.isRunning, downloads[parse.download]?.stage == .arrived else { return }
        if parse.isQuick {
            quickParses.insert(id)
            parses[id]?.isRunning = true
            actions.append(.parse(id))
        } else {
            waitingParses.set(id, rank: rank(parse.priorities, turn: parse.turn))
        }
    }

    private func rank(of download: Download) -> LoadRank {
        rank(download.priorities, turn: download.turn)
    }

    private func rank(_ priorities: PriorityCounts, turn: Int) -> LoadRank {
        LoadRank(priority: priorities.highest ?? .veryLow, turn: newestFirst ? turn : -turn)
    }

    private mutating func noteVisibility(from old: Download?, to new: Download?) {
        visibleCount += (isVisible(new) ? 1 : 0) - (isVisible(old) ? 1 : 0)
    }

    private func isVisible(_ download: Download?) -> Bool {
        guard let download, download.stage != .arrived, download.stage != .resting else { return false }
        return download.priorities.highest?.isVisible ?? false
    }

    private mutating func startWhatMay() {
        while parsesRunning < limits.parses, let id = waitingParses.popFirst() {
            parsesRunning += 1
            parses[id]?.isRunning = true
            actions.append(.parse(id))
        }
        // Bodies that wait to be parsed take memory: as long as there are many, no more are fetched.
        let hasRoom = waitingParses.count < limits.waitingParses
        if hasRoom { startOnNetwork() }
        while hasRoom, lookupsRunning < limits.lookups, let id = lookups.popFirst() {
            lookupsRunning += 1
            change(id) { $0.stage = .lookingUp }
            actions.append(.lookUp(id))
        }
    }

    private mutating func startOnNetwork() {
        repeat {
            while let id = network.start(whileVisible: visibleCount > 0) {
                change(id) { $0.stage = .loading }
                actions.append(.proceed(id))
            }
        } while preempt()
    }

    /// Makes room for something visible; whether it did.
    private mutating func preempt() -> Bool {
        guard visibleCount > 0, let id = network.toPreempt() else { return false }
        network.end(id)
        actions.append(.restart(id))
        change(id) { $0.stage = .waitingToLookUp }
        return true
    }
}
