/// Which loads wait, run, coalesce and end: a pure state machine. Events go in, actions come out. It has no lock, no clock and
/// no queue, so that a test can run it through every interleaving.
///
/// A *subscriber* waits for a *parse*; a parse waits for a *download*. Subscribers with equal parse keys share the parse, and
/// parses with equal request keys share the download. A download first looks into the cache, and needs a network slot only if
/// the cache does not answer.
///
///     subscribe ─→ waitingToLookUp ─→ lookingUp ─→ waitingForNetwork ─→ loading ─→ arrived ─→ parses ─→ deliver
///                                         └────────────── answered by the cache ────↗
///
/// The parts: events (`+Events`), what may start now (`+Queues`), the grace period (`+Lingering`), and the records.
struct LoadMachine<RequestKey: Hashable & Sendable, ParseKey: Equatable & Sendable>: Sendable {
    typealias SubscriberID = RecordID
    typealias ParseID = RecordID
    typealias DownloadID = RecordID

    struct Limits: Hashable, Sendable {
        var lookups: Int
        var network: NetworkQueue.Limits
        var parses: Int
        /// How many bodies may wait for a parse slot before only loads of a higher priority start.
        var waitingParses: Int { max(2, parses) }
    }

    let limits: Limits
    let newestFirst: Bool
    let hasGracePeriod: Bool
    var lastSequence: Int64 = 0
    var lastGraceToken: UInt32 = 0
    var downloads = RecordTable<Download>()
    private var downloadIDs = RecordIDs()
    var parses = RecordTable<Parse>()
    private var parseIDs = RecordIDs()
    var subscribers = RecordTable<Subscriber>()
    /// The downloads with which equal requests coalesce.
    private var coalesced: [RequestKey: DownloadID] = [:]
    var lookups = RecordHeap()
    var lookupPlaces = RecordPlaces()
    var lookupsRunning = 0
    var network: NetworkQueue
    var waitingParses = RecordHeap()
    var parsePlaces = RecordPlaces()
    /// Running parses that hold a slot. An abandoned one holds its slot until it notices.
    var parsesRunning = 0
    var auxiliary = AuxiliaryParseSlots()
    /// The visible downloads that have not arrived and do not back off.
    var visibleCount = 0
    var actions: [Action] = []

    init(limits: Limits, newestFirst: Bool = true, hasGracePeriod: Bool = false) {
        self.limits = limits
        self.newestFirst = newestFirst
        self.hasGracePeriod = hasGracePeriod
        network = NetworkQueue(limits: limits.network)
    }

    /// Whether the machine has no records of any load.
    var isIdle: Bool {
        downloads.isEmpty && parses.isEmpty && subscribers.isEmpty && coalesced.isEmpty && lookups.isEmpty
            && network.isIdle && waitingParses.isEmpty && lookupsRunning == 0 && parsesRunning == 0
            && auxiliary.isIdle && visibleCount == 0 && downloadIDs.isIdle && parseIDs.isIdle
    }

    func parses(of download: DownloadID) -> Few<ParseID> {
        downloads[download].map { parses.ids(in: $0.parses) } ?? Few()
    }

    /// The download of a subscriber; nil after the subscriber's delivery or removal.
    func download(of subscriber: SubscriberID) -> DownloadID? {
        subscribers[subscriber].flatMap { parses[$0.parse]?.download }
    }

    func subscribers(of parse: ParseID) -> Few<SubscriberID> {
        parses[parse].map { subscribers.ids(in: $0.subscribers) } ?? Few()
    }

    /// Removes the actions. The array keeps its memory for the next ones, unless there were very many.
    mutating func forgetActions() {
        if actions.count > RecordIDs.kept { actions = [] } else { actions.removeAll(keepingCapacity: true) }
    }

    // MARK: - Adding and removing records

    /// The download with which a request coalesces.
    func coalescedDownload(for key: RequestKey?) -> DownloadID? { key.flatMap { coalesced[$0] } }

    mutating func add(_ download: Download) -> DownloadID {
        let id = downloadIDs.take()
        downloads.insert(download, as: id)
        if let key = download.key { coalesced[key] = id }
        return id
    }

    mutating func add(_ parse: Parse, to download: DownloadID) -> ParseID {
        let id = parseIDs.take()
        parses.insert(parse, as: id)
        guard var list = downloads[download]?.parses else { return id }
        parses.append(id, to: &list)
        downloads.update(download) { $0.parses = list }
        return id
    }

    mutating func add(_ subscriber: Subscriber, as id: SubscriberID) {
        subscribers.insert(subscriber, as: id)
        guard var list = parses[subscriber.parse]?.subscribers else { return }
        subscribers.append(id, to: &list)
        parses.update(subscriber.parse) { parse in
            parse.subscribers = list
            parse.priorities.add(subscriber.priority)
        }
    }

    /// Lets no load coalesce with the download any more; equal requests start another one.
    mutating func closeToOthers(_ id: DownloadID) {
        if let key = downloads[id]?.key, coalesced[key] == id { coalesced[key] = nil }
    }

    mutating func unlink(_ id: ParseID, from download: DownloadID) {
        guard var list = downloads[download]?.parses else { return }
        parses.unlink(id, from: &list)
        downloads.update(download) { $0.parses = list }
    }

    mutating func forget(_ id: ParseID) {
        waitingParses.remove(id, in: &parsePlaces)
        auxiliary.stopWaiting(forPreview: id)
        parses.remove(id)
        parseIDs.giveBack(id)
    }

    mutating func release(_ id: DownloadID) {
        guard let download = downloads[id] else { return }
        leaveStage(of: download, id: id)
        noteCancellation(of: download)
        if download.isVisible { visibleCount -= 1 }
        closeToOthers(id)
        downloads.remove(id)
        downloadIDs.giveBack(id)
        if downloads.isEmpty, coalesced.capacity > RecordIDs.kept { releaseMemory() }
        actions.append(.release(id))
    }

    /// Frees the memory of the queues after a peak, when no load waits any more.
    private mutating func releaseMemory() {
        coalesced = [:]
        (lookupPlaces, parsePlaces) = (RecordPlaces(), RecordPlaces())
        network.releaseMemory()
    }

    /// Notes the cancellation of a released download that is not over: it was released because its subscribers cancelled.
    private mutating func noteCancellation(of download: Download) {
        guard !download.stage.isOver else { return }
        network.throttle.noteCancellation()
        if case .loading = download.stage, let token = network.throttle.cancelledInFlight() {
            actions.append(.beginPause(token: token))
        }
    }
}
