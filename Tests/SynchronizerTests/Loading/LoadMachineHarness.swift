@testable import Synchronizer

/// Drives a `LoadMachine` as its shell does, keeps a simple account of its own, and names each difference.
struct LoadMachineHarness {
    typealias Machine = LoadMachine<Int, String>

    let limits: Machine.Limits
    let newestFirst: Bool
    let hasGrace: Bool
    private(set) var machine: Machine
    private(set) var downloads = Table<RecordID, Download>()
    private(set) var parses = Table<RecordID, Parse>()
    private(set) var live = Table<RecordID, Subscriber>()
    private(set) var delivered: [RecordID] = []
    /// Running parses, including those without subscribers.
    private(set) var runningParses: [RecordID] = []
    /// Running parses of stored responses and of previews, including those without subscribers.
    private(set) var runningStored: [RecordID] = []
    private(set) var runningPreviews: [RecordID] = []
    /// Those of the previews that have been asked to stop.
    private(set) var stoppedPreviews: [RecordID] = []
    /// The token of the pause after which the scrolling counts as slow.
    private(set) var pause: Int?
    /// Loads that have been let onto the network so far.
    private(set) var started = 0
    private(set) var violations: [String] = []
    private var names = RecordIDs()
    private var events: [Event] = []
    private var sequence: Int64 = 0

    init(limits: Machine.Limits, newestFirst: Bool = true, hasGrace: Bool = false) {
        self.limits = limits
        self.newestFirst = newestFirst
        self.hasGrace = hasGrace
        machine = Machine(limits: limits, newestFirst: newestFirst, hasGracePeriod: hasGrace)
    }

    // MARK: - Events

    enum Event {
        case subscribe(Int?, parse: String, host: String, LoadPriority)
        case unsubscribe(RecordID), setPriority(LoadPriority, of: RecordID)
        case needsNetwork(RecordID), fetchEnded(RecordID, succeeded: Bool), fail(RecordID), backOff(RecordID),
            backOffEnded(RecordID)
        case closeToOthers(RecordID)
        case expectStored(RecordID), storedIsRead(RecordID), storedEnded(RecordID), previewIsDue(RecordID),
            previewEnded(RecordID)
        case parseEnded(RecordID), graceEnded(RecordID, token: UInt32), pauseEnded(token: Int)
    }

    @discardableResult
    mutating func subscribe(_ request: Int?, parse: String = "", host: String = "a", _ priority: LoadPriority = .normal)
        -> RecordID
    {
        let subscriber = names.take()
        let place = machine.subscribe(
            subscriber, request: request, parse: request == nil ? nil : parse, priority: priority)
        sequence += 1
        if place.isNewDownload {
            downloads[place.download] = Download(request: request, host: host, sequence: sequence)
        }
        expect(downloads[place.download] != nil, "coalesced with a download that is gone")
        expect(downloads[place.download]?.request == request, "coalesced with another request")
        expect(downloads[place.download]?.isClosed == false, "coalesced with a download that is closed to others")
        expect(place.isNewParse == (parses[place.parse] == nil), "coalesced with a parse that does not exist")
        if newestFirst { downloads[place.download]?.sequence = sequence }
        downloads[place.download]?.priorities.append(priority)
        downloads[place.download]?.graceTokens = []
        if place.isNewParse { parses[place.parse] = Parse(download: place.download, sequence: sequence) }
        if newestFirst { parses[place.parse]?.sequence = sequence }
        live[subscriber] = Subscriber(download: place.download, parse: place.parse, priority: priority)
        step(.subscribe(request, parse: parse, host: host, priority))
        return subscriber
    }

    mutating func unsubscribe(_ id: RecordID) {
        forget(id)
        machine.unsubscribe(id)
        step(.unsubscribe(id))
    }

    mutating func setPriority(_ priority: LoadPriority, of id: RecordID) {
        if let subscriber = live[id] {
            live[id]?.priority = priority
            downloads[subscriber.download]?.replace(subscriber.priority, by: priority)
        }
        machine.setPriority(priority, of: id)
        step(.setPriority(priority, of: id))
    }

    mutating func needsNetwork(_ id: RecordID) {
        downloads[id]?.stage = .waitingForNetwork
        machine.needsNetwork(id, host: downloads[id]?.host ?? "")
        step(.needsNetwork(id))
    }

    mutating func fetchEnded(_ id: RecordID, succeeded: Bool) {
        downloads[id]?.stage = succeeded ? .arrived : .failed
        if !succeeded { downloads[id]?.isClosed = true }
        machine.fetchEnded(id, succeeded: succeeded)
        step(.fetchEnded(id, succeeded: succeeded))
    }

    /// The load has taken too long, in any stage.
    mutating func fail(_ id: RecordID) {
        if downloads[id]?.stage != .arrived { downloads[id]?.stage = .failed }
        machine.fail(id)
        step(.fail(id))
    }

    mutating func backOff(_ id: RecordID) {
        downloads[id]?.stage = .backingOff
        machine.backOff(id)
        step(.backOff(id))
    }

    mutating func backOffEnded(_ id: RecordID) {
        if downloads[id]?.stage == .backingOff { downloads[id]?.stage = .waitingToLookUp }
        machine.backOffEnded(id)
        step(.backOffEnded(id))
    }

    mutating func parseEnded(_ id: RecordID) {
        runningParses.removeAll { $0 == id }
        machine.parseEnded(id)
        step(.parseEnded(id))
    }

    mutating func closeToOthers(_ id: RecordID) {
        downloads[id]?.isClosed = true
        machine.closeToOthers(id)
        step(.closeToOthers(id))
    }

    /// The parse wants the stored response, which is being read.
    mutating func expectStored(_ id: RecordID) {
        let isTooLate = parses[id].map { $0.stored != .none || isOver($0) } ?? true
        let isExpected = machine.expectStored(id)
        expect(isExpected != isTooLate, "expects the stored response too late, or not at all: \(id)")
        if isExpected { parses[id]?.stored = .beingRead }
        step(.expectStored(id))
    }

    mutating func storedIsRead(_ id: RecordID) {
        parses[id]?.stored = .waiting
        machine.storedIsRead(id)
        step(.storedIsRead(id))
    }

    /// The stored response has been parsed and shown, or there was none.
    mutating func storedEnded(_ id: RecordID) {
        runningStored.removeAll { $0 == id }
        parses[id]?.stored = .none
        machine.storedEnded(id)
        step(.storedEnded(id))
    }

    mutating func previewIsDue(_ id: RecordID) {
        if let parse = parses[id], !isOver(parse) { parses[id]?.hasPreviewDue = true }
        machine.previewIsDue(id)
        step(.previewIsDue(id))
    }

    mutating func previewEnded(_ id: RecordID) {
        runningPreviews.removeAll { $0 == id }
        stoppedPreviews.removeAll { $0 == id }
        machine.previewEnded(id)
        step(.previewEnded(id))
    }

    func isArrived(_ parse: Parse) -> Bool { downloads[parse.download]?.stage == .arrived }

    /// Whether its download has arrived, or has failed for good.
    func isOver(_ parse: Parse) -> Bool { isArrived(parse) || downloads[parse.download]?.stage == .failed }

    /// Whether it waits for a slot: with the stored response, or else with the answer.
    func isWaiting(_ parse: Parse) -> Bool {
        parse.stored == .waiting || parse.stored == .none && !parse.isRunning && isArrived(parse)
    }

    mutating func graceEnded(_ id: RecordID, token: UInt32) {
        machine.gracePeriodEnded(id, token: token)
        step(.graceEnded(id, token: token))
    }

    mutating func pauseEnded() {
        guard let token = pause else { return }
        pause = nil
        machine.pauseEnded(token: token)
        step(.pauseEnded(token: token))
    }

    // MARK: - Account

    mutating func expect(_ condition: Bool, _ complaint: @autoclosure () -> String) {
        if !condition { violations.append("\(complaint()) after \(events)") }
    }

    private mutating func step(_ event: Event) {
        events.append(event)
        for action in machine.takeActions() { account(for: action) }
        checkInvariants()
        let more = machine.takeActions()
        expect(more.isEmpty, "asks for more when asked again: \(more)")
    }

    private mutating func account(for action: Machine.Action) {
        switch action {
        case .lookUp(let id):
            expect(downloads[id]?.stage == .waitingToLookUp, "looked up twice: \(id)")
            checkOrder(of: id, among: .waitingToLookUp)
            downloads[id]?.stage = .lookingUp
        case .proceed(let id):
            expect(downloads[id]?.stage == .waitingForNetwork, "proceeded without need: \(id)")
            expect(downloads[id]?.hasSubscribers ?? false, "proceeded without subscribers: \(id)")
            checkOrder(of: id, among: .waitingForNetwork)
            downloads[id]?.stage = .loading
            started += 1
        case .restart(let id):
            expect(downloads[id]?.stage == .loading, "restarted while not loading: \(id)")
            checkPreempted(id)
            downloads[id]?.stage = .waitingToLookUp
        case .release(let id):
            expect(downloads[id] != nil, "released twice: \(id)")
            expect(!(downloads[id]?.hasSubscribers ?? false), "released with subscribers: \(id)")
            downloads[id] = nil
        case .beginGracePeriod(let id, let token):
            expect(hasGrace, "grace without grace")
            expect(!(downloads[id]?.hasSubscribers ?? true), "grace with subscribers: \(id)")
            downloads[id]?.graceTokens.append(token)
        case .beginPause(let token):
            expect(pause == nil, "two pauses at once")
            pause = token
        case .parse(let id):
            expect(parses[id]?.isRunning == false, "parsed twice, or without subscribers: \(id)")
            expect(parses[id].map(isArrived) == true, "parsed too early: \(id)")
            expect(parses[id]?.stored == StoredPhase.none, "parsed before the stored response: \(id)")
            checkOrder(ofParse: id)
            parses[id]?.isRunning = true
            runningParses.append(id)
        case .parseStored(let id):
            expect(parses[id]?.stored == .waiting, "a stored response was parsed twice, or without subscribers: \(id)")
            checkOrder(ofParse: id)
            parses[id]?.stored = .running
            runningStored.append(id)
        case .preview(let id):
            expect(parses[id]?.hasPreviewDue == true, "a preview of nothing: \(id)")
            expect(parses[id].map(isOver) == false, "a preview of what is there: \(id)")
            expect(!parses.contains { isWaiting($0.value) }, "a preview came before a parse: \(id)")
            parses[id]?.hasPreviewDue = false
            runningPreviews.append(id)
        case .stopPreview(let id):
            expect(runningPreviews.contains(id) && !stoppedPreviews.contains(id), "stopped twice: \(id)")
            stoppedPreviews.append(id)
        case .abandon(let id):
            expect(runningParses.contains(id), "abandoned while not running: \(id)")
            expect(!live.contains { $0.value.parse == id }, "abandoned with subscribers: \(id)")
            parses[id] = nil
        case .deliver(let id, let subscribers):
            expect(parses[id] != nil, "delivered a parse that is gone: \(id)")
            for subscriber in subscribers { deliver(to: subscriber, of: id) }
            expect(!live.contains { $0.value.parse == id }, "delivered to some only: \(id)")
            parses[id] = nil
        }
    }

    private mutating func deliver(to subscriber: RecordID, of parse: RecordID) {
        expect(live[subscriber]?.parse == parse, "delivered twice, or after it was cancelled: \(subscriber)")
        delivered.append(subscriber)
        forget(subscriber)
    }

    private mutating func forget(_ subscriber: RecordID) {
        guard let gone = live[subscriber] else { return }
        live[subscriber] = nil
        names.giveBack(subscriber)  // the next subscriber gets the same index
        downloads[gone.download]?.replace(gone.priority, by: nil)
    }
}
