/// Which loads wait, run, share and end: a pure state machine. Events go in, actions come out; it has no lock, no clock
/// and no queue, so that a test can put it through every interleaving.
///
/// A *subscriber* waits for a *parse*; a parse waits for a *download*. Subscribers of equal parse keys share the parse,
/// parses of equal request keys share the download. A download first looks into the cache, and needs a turn on the
/// network only if that does not answer.
///
///     subscribe ─→ waitingToLookUp ─→ lookingUp ─→ waitingForNetwork ─→ loading ─→ arrived ─→ parses ─→ deliver
///                                         └────────────── answered by the cache ────↗
struct LoadMachine<RequestKey: Hashable & Sendable, ParseKey: Equatable & Sendable>: Sendable {
    typealias SubscriberID = SlotID
    typealias ParseID = SlotID
    typealias DownloadID = SlotID

    let limits: Limits
    let newestFirst: Bool
    private let hasGrace: Bool
    private var turns: Int64 = 0
    private var graceTokens = 0
    var downloads = SlotTable<Download>()
    private var downloadIDs = SlotIDs()
    var parses = SlotTable<Parse>()
    private var parseIDs = SlotIDs()
    private var subscribers = SlotTable<Subscriber>()
    private var shared: [RequestKey: DownloadID] = [:]
    var lookups = SlotHeap()
    var lookupPlaces = SlotPlaces()
    var lookupsRunning = 0
    var network: NetworkQueue
    var waitingParses = SlotHeap()
    var parsePlaces = SlotPlaces()
    /// Parses under way that take a turn, abandoned ones included: they hold their thread until they notice.
    var parsesRunning = 0
    var sideTurns = SideTurns()
    /// Visible downloads that have not arrived yet, and do not rest.
    var visibleCount = 0
    var actions: [Action] = []

    init(limits: Limits, newestFirst: Bool = true, hasGrace: Bool = false) {
        self.limits = limits
        self.newestFirst = newestFirst
        self.hasGrace = hasGrace
        network = NetworkQueue(limits: limits.network)
    }

    /// Whether nothing is kept of any load.
    var isIdle: Bool {
        downloads.isEmpty && parses.isEmpty && subscribers.isEmpty && shared.isEmpty && lookups.isEmpty
            && network.isIdle && waitingParses.isEmpty && lookupsRunning == 0 && parsesRunning == 0
            && sideTurns.isIdle && visibleCount == 0 && downloadIDs.isIdle && parseIDs.isIdle
    }

    /// Whether there is room for another load on the network, on some host.
    var networkHasRoom: Bool { network.mayStart }

    func parses(of download: DownloadID) -> [ParseID] { downloads[download].map { parses.ids(in: $0.parses) } ?? [] }

    func subscribers(of parse: ParseID) -> [SubscriberID] {
        parses[parse].map { subscribers.ids(in: $0.subscribers) } ?? []
    }

    // MARK: - Events

    /// Somebody asks, whom the caller gives a name. A nil request key shares with nobody.
    mutating func subscribe(
        _ subscriber: SubscriberID, request: RequestKey?, parse parseKey: ParseKey?, isQuick: Bool = false,
        priority: LoadPriority
    ) -> Place {
        turns += 1
        let joined = request.flatMap { shared[$0] }
        let download = joined ?? add(Download(key: request, turn: turns))
        let joinedParse = joined.flatMap { existingParse(of: $0, for: parseKey) }
        let parse =
            joinedParse ?? add(Parse(key: parseKey, download: download, turn: turns, isQuick: isQuick), to: download)
        add(Subscriber(parse: parse, priority: priority), subscriber)
        let promotion = newestFirst ? turns : nil
        change(download) { download in
            if let promotion { download.turn = promotion }
            download.grace = nil
            download.priorities.add(priority)
        }
        if let promotion { parses[parse]?.turn = promotion }
        enqueue(parse)
        return Place(
            parse: parse, isNewParse: joinedParse == nil, download: download, isNewDownload: joined == nil)
    }

    /// A subscriber leaves. Without effect if it has been delivered to, or has left.
    mutating func unsubscribe(_ id: SubscriberID) {
        guard let subscriber = subscribers[id], var parse = parses[subscriber.parse] else { return }
        subscribers.unlink(id, from: &parse.subscribers)
        subscribers[id] = nil
        parses[subscriber.parse]?.subscribers = parse.subscribers
        parses[subscriber.parse]?.priorities.remove(subscriber.priority)
        change(parse.download) { $0.priorities.remove(subscriber.priority) }
        if parse.subscribers.isEmpty {
            abandon(subscriber.parse)
        } else {
            enqueue(subscriber.parse)
        }
    }

    mutating func setPriority(_ priority: LoadPriority, of id: SubscriberID) {
        guard let subscriber = subscribers[id], let download = parses[subscriber.parse]?.download else { return }
        subscribers[id]?.priority = priority
        parses[subscriber.parse]?.priorities.replace(subscriber.priority, by: priority)
        change(download) { $0.priorities.replace(subscriber.priority, by: priority) }
        enqueue(subscriber.parse)
    }

    /// The cache does not answer; `host` tells who is to be asked, in a manner that tells hosts apart. Without effect,
    /// which is what it returns, unless the download is being looked up.
    @discardableResult
    mutating func needsNetwork(_ id: DownloadID, host: @autoclosure () -> String) -> Bool {
        guard let download = downloads[id], download.stage == .lookingUp else { return false }
        lookupsRunning -= 1
        if download.host == nil { downloads[id]?.host = network.enter(host: host()) }
        change(id) { $0.stage = $0.grace == nil ? .waitingForNetwork : .parked }
        return true
    }

    /// The fetch has ended: with a body to parse, or with an error for all.
    mutating func fetchEnded(_ id: DownloadID, succeeded: Bool) {
        guard let download = downloads[id], download.stage == .lookingUp || download.stage == .loading else { return }
        arrive(download, id)
        if succeeded, !download.parses.isEmpty {
            for parse in parses.ids(in: download.parses) {
                sideTurns.stopWaiting(forPreview: parse)
                enqueue(parse)
            }
        } else {
            deliverAll(of: download, id)
        }
    }

    /// The download is given up, at whatever stage it is; without effect once its body is there.
    mutating func fail(_ id: DownloadID) {
        guard let download = downloads[id], download.stage != .arrived else { return }
        arrive(download, id)
        deliverAll(of: download, id)
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
        guard let parse = parses[id], parse.isRunning else { return }
        if !parse.isQuick { parsesRunning -= 1 }
        if parse.isAbandoned { return forget(id) }
        deliver(id)
        releaseIfDone(parse.download)
    }

    /// What is stored is wanted, and being read: the parse of the answer waits for that of what is stored. Without effect,
    /// which is what it returns, if the answer is there.
    mutating func expectStored(_ id: ParseID) -> Bool {
        guard let parse = parses[id], !parse.isRunning, parse.stored == .none,
            downloads[parse.download]?.stage != .arrived
        else { return false }
        parses[id]?.stored = .beingRead
        return true
    }

    /// What is stored has been read, and waits to be parsed.
    mutating func storedIsRead(_ id: ParseID) {
        guard case .beingRead? = parses[id]?.stored else { return }
        parses[id]?.stored = .waiting
        enqueue(id)
    }

    /// What is stored has been parsed and shown, or there is nothing to show.
    mutating func storedEnded(_ id: ParseID) {
        sideTurns.endStored(id)
        guard let parse = parses[id], parse.stored != .none else { return }
        parses[id]?.stored = .none
        enqueue(id)
    }

    /// There are bytes to make a preview of: it waits for a turn that no parse needs.
    mutating func previewIsDue(_ id: ParseID) {
        guard let parse = parses[id], !parse.isRunning, downloads[parse.download]?.stage != .arrived else { return }
        sideTurns.wait(forPreview: id)
    }

    mutating func previewEnded(_ id: ParseID) {
        sideTurns.endPreview(id)
    }

    /// The moment of grace is over: the download ends, unless somebody has joined meanwhile.
    mutating func graceEnded(_ id: DownloadID, token: Int) {
        if downloads[id]?.grace == token { release(id) }
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

    private mutating func add(_ download: Download) -> DownloadID {
        let id = downloadIDs.take()
        downloads[id] = download
        if let key = download.key { shared[key] = id }
        return id
    }

    private mutating func add(_ parse: Parse, to download: DownloadID) -> ParseID {
        let id = parseIDs.take()
        parses[id] = parse
        guard var list = downloads[download]?.parses else { return id }
        parses.append(id, to: &list)
        downloads[download]?.parses = list
        return id
    }

    private mutating func add(_ subscriber: Subscriber, _ id: SubscriberID) {
        subscribers[id] = subscriber
        guard var list = parses[subscriber.parse]?.subscribers else { return }
        subscribers.append(id, to: &list)
        parses[subscriber.parse]?.subscribers = list
        parses[subscriber.parse]?.priorities.add(subscriber.priority)
    }

    private func existingParse(of download: DownloadID, for key: ParseKey?) -> ParseID? {
        guard let key, let list = downloads[download]?.parses else { return nil }
        return parses.first(in: list) { $0.key == key }
    }

    /// Nobody waits for the parse any more. One under way holds its turn until it has noticed.
    private mutating func abandon(_ id: ParseID) {
        guard let parse = parses[id] else { return }
        unlink(id, from: parse.download)
        if parse.isRunning {
            parses[id]?.isAbandoned = true
            parses[id]?.key = nil  // nobody joins it, and a key holds something of the caller's
            actions.append(.abandon(id))
        } else {
            forget(id)
            actions.append(.deliver(id, to: []))
        }
        releaseIfDone(parse.download)
    }

    private mutating func deliver(_ id: ParseID) {
        guard let parse = parses[id] else { return }
        let waiting = subscribers.ids(in: parse.subscribers)
        unlink(id, from: parse.download)
        forget(id)
        let priorities = waiting.compactMap { subscribers.remove($0)?.priority }
        change(parse.download) { download in priorities.forEach { download.priorities.remove($0) } }
        actions.append(.deliver(id, to: waiting))
    }

    private mutating func deliverAll(of download: Download, _ id: DownloadID) {
        parses.ids(in: download.parses).forEach { deliver($0) }
        release(id)
    }

    private mutating func unlink(_ id: ParseID, from download: DownloadID) {
        guard var list = downloads[download]?.parses else { return }
        parses.unlink(id, from: &list)
        downloads[download]?.parses = list
    }

    private mutating func forget(_ id: ParseID) {
        waitingParses.remove(id, &parsePlaces)
        sideTurns.stopWaiting(forPreview: id)
        parses[id] = nil
        parseIDs.giveBack(id)
    }

    private mutating func releaseIfDone(_ id: DownloadID) {
        guard let download = downloads[id], download.parses.isEmpty else { return }
        guard hasGrace, download.stage.mayLinger else { return release(id) }
        graceTokens += 1
        let token = graceTokens
        change(id) { download in
            download.grace = token
            if download.stage == .waitingForNetwork { download.stage = .parked }
        }
        actions.append(.beginGrace(id, token: token))
    }

    private mutating func release(_ id: DownloadID) {
        guard let download = downloads[id] else { return }
        leaveStage(of: download, id)
        noteWaste(of: download)
        if download.isVisible { visibleCount -= 1 }
        if let host = download.host { network.leave(host: host) }
        if let key = download.key, shared[key] == id { shared[key] = nil }
        downloads[id] = nil
        downloadIDs.giveBack(id)
        if downloads.isEmpty, shared.capacity > SlotIDs.kept { letGo() }
        actions.append(.release(id))
    }

    /// After a peak, when nothing waits any more: the memory that it has taken.
    private mutating func letGo() {
        shared = [:]
        (lookups, lookupPlaces) = (SlotHeap(), SlotPlaces())
        (waitingParses, parsePlaces) = (SlotHeap(), SlotPlaces())
        network.letGo()
    }

    /// What has not arrived is released because nobody waits for it any more.
    private mutating func noteWaste(of download: Download) {
        guard download.stage != .arrived else { return }
        network.waste.left()
        if download.stage == .loading, let token = network.waste.cancelled() {
            actions.append(.beginPause(token: token))
        }
    }
}
