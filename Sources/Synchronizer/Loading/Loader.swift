import Foundation

/// Performs what ``LoadMachine`` decides: shares, schedules, fetches, parses and delivers.
///
/// All of its state is behind one lock, under which only the machine runs and records are kept. What the machine asks
/// for is done after the lock is released; so nothing that it does can call back into a locked loader.
final class Loader: Sendable {
    typealias Machine = LoadMachine<DownloadKey, ObjectKey>
    typealias Outcome = Result<LoadedObject, SynchronizerError>

    /// The parsed objects that outlive their loads, which are kept by whoever uses the loader.
    struct Memory: Sendable {
        /// The object, whatever its age.
        var recall: @Sendable (ObjectKey) -> LoadedObject?
        /// Told of each parsed object before its subscribers are.
        var remember: @Sendable (ObjectKey, LoadedObject) -> Void
        /// Told of cache keys whose objects are not valid any more.
        var forget: @Sendable (Set<String>) -> Void = { _ in }
    }

    struct Download {
        let request: URLRequest
        let options: FetchOptions
        let origin: String
        var handle = FetchHandle()
        var waitingSince: Date
        var queueWait: TimeInterval = 0
        var progress = LoadProgress(received: 0)
        /// Whether somebody looks at the progress, or at previews.
        var isWatched = false
        let startedAt: Date
        var attempts = 1
        var result: Result<Boxed<Fetched>, SynchronizerError>?
        /// Whether what it brings was made invalid meanwhile: its subscribers get it, and nobody after them.
        var isInvalidated = false
        /// Whether the observer has heard how it ended, for somebody at least.
        var isEndReported = false
    }

    struct Parse {
        let download: Int
        /// Nil if the object is not to be kept in memory.
        let key: ObjectKey?
        let run: @Sendable (Data) throws -> (object: any Sendable, cost: Int)
        let isQuick: Bool
        /// What tells the parse to stop; made when one begins.
        var cancellation: ParseFlag?
        var isPrefetched = false
        var stored = StoredPhase.unwanted
        var previews: PreviewRun?
        var isWaitingForStored = false
        var outcome: Outcome?
    }

    /// How far the report of what is stored has come, for those who want it while the network is asked.
    enum StoredPhase {
        case unwanted, wanted, underWay
        case reported(LoadedObject, body: Data)
    }

    struct State {
        var machine: Machine
        var downloads: [Int: Download] = [:]
        var parses: [Int: Parse] = [:]
        var receivers: [Int: LoadReceiver] = [:]
        var retries = RetryBudget()
        var deadlines: Deadlines
        let isObserved: Bool
        /// What the observer is to hear of, before the effects are performed.
        var observations: [(Int, URL?, SynchronizerEvent.Kind)] = []
        /// What the next `update` performs besides the machine's actions.
        var extraEffects: [Effect] = []
        /// What the next `update` lets go of once the lock is released: a caller's own values may do anything at their end.
        var dropped: (parses: [Parse], receivers: [LoadReceiver]) = ([], [])
        /// Whether some thread is telling the observer.
        var isObserving = false
    }

    let fetcher: any Fetching
    let time: any TimeSource
    let memory: Memory
    private let observer: (any SynchronizerObserver)?
    private let grace: TimeInterval
    private let previewInterval: TimeInterval
    private let retry: RetryPolicy
    private let state: Locked<State>
    private let lookups = DispatchQueue(label: "Synchronizer.lookups", qos: .userInitiated, attributes: .concurrent)
    private let parses = DispatchQueue(label: "Synchronizer.parses", qos: .parsing, attributes: .concurrent)
    /// Parses of stored responses that are shown while the network is asked.
    let storedParses = OperationQueue()

    init(
        fetcher: any Fetching, time: any TimeSource, limits: Machine.Limits, newestFirst: Bool, grace: TimeInterval,
        retry: RetryPolicy, timeLimit: TimeInterval, previewInterval: TimeInterval = 0.25, memory: Memory,
        observer: (any SynchronizerObserver)? = nil
    ) {
        self.fetcher = fetcher
        self.time = time
        self.grace = grace
        self.retry = retry
        self.memory = memory
        self.previewInterval = previewInterval
        self.observer = observer
        state = Locked(
            State(
                machine: Machine(limits: limits, newestFirst: newestFirst, hasGrace: grace > 0),
                deadlines: Deadlines(limit: timeLimit), isObserved: observer != nil))
        storedParses.maxConcurrentOperationCount = limits.parses
        storedParses.qualityOfService = .parsing
    }

    // MARK: - Asking and leaving

    /// What `load` gives: an object that was there after all, or the place to leave.
    enum Ticket: Sendable {
        case known(LoadedObject)
        case waiting(Int)
    }

    /// Joins a load, or begins one. `known` is asked under the lock, so that an object that has just been parsed is
    /// not loaded a second time; if it has one, nothing is begun. A thread that may block looks into the cache itself,
    /// if there is a turn for it now.
    func load(
        _ job: LoadJob, unless known: (ObjectKey) -> LoadedObject? = { _ in nil }, mayBlock: Bool = false,
        receiver: LoadReceiver
    ) -> Ticket {
        let (ticket, toReport): (Ticket, Int?) = update(mayBlock: mayBlock) { state in
            if let key = job.objectKey, let object = known(key) { return (.known(object), nil) }
            let place = state.machine.subscribe(
                request: job.downloadKey, parse: job.objectKey, isQuick: job.parsesQuickly, host: job.host,
                priority: job.priority)
            if place.isNewDownload {
                let now = time.now
                state.downloads[place.download] = Download(
                    request: job.request, options: job.options, origin: job.host, waitingSince: now, startedAt: now)
                state.noteBeginning(of: place.download, at: now)
                state.note(place.download, .queued)
            }
            if place.isNewParse {
                let key = job.isRemembered ? job.objectKey : nil
                state.parses[place.parse] = Parse(
                    download: place.download, key: key, run: job.parse, isQuick: job.parsesQuickly)
            }
            state.receivers[place.subscriber] = receiver
            if receiver.isPrefetch { state.parses[place.parse]?.isPrefetched = true }
            if receiver.isWatching { state.downloads[place.download]?.isWatched = true }
            if receiver.previewed != nil { startPreviews(of: place.parse, job, &state) }
            let wantsStored = receiver.stored != nil && state.want(storedOf: place.parse)
            return (.waiting(place.subscriber), wantsStored && !place.isNewDownload ? place.download : nil)
        }
        if let toReport { lookups.async { self.reportStored(of: toReport) } }
        return ticket
    }

    /// Leaves a load: the receiver is not told anything more once this has returned, unless it is being told.
    func leave(_ subscriber: Int) {
        update { state in
            if let receiver = state.receivers.removeValue(forKey: subscriber) {
                state.dropped.receivers.append(receiver)
            }
            state.machine.unsubscribe(subscriber)
        }
    }

    func setPriority(_ priority: LoadPriority, of subscriber: Int) {
        update { $0.machine.setPriority(priority, of: subscriber) }
    }

    /// Changes the state, then does what the machine asks for.
    func update<T>(mayBlock: Bool = false, _ change: (inout State) -> T) -> T {
        let (value, effects, dropped) = state.withLock { state in
            let value = change(&state)
            let effects = state.machine.takeActions().compactMap { state.effect(of: $0, at: time.now) }
            defer {
                state.extraEffects = []
                state.dropped = ([], [])
            }
            return (value, effects + state.extraEffects, state.dropped)
        }
        if observer != nil { tellObserver() }
        withExtendedLifetime(dropped) {}
        if mayBlock, effects.count == 1, case .lookUp(let id, let request, let options, let handle)? = effects.first {
            lookUp(id, request, options, handle)
        } else {
            effects.forEach(perform)
        }
        return value
    }

    /// Tells the observer what there is to tell, in the order in which it happened, one thread at a time.
    private func tellObserver() {
        while true {
            let told = state.withLock { state -> [(Int, URL?, SynchronizerEvent.Kind)] in
                guard !state.isObserving else { return [] }
                defer { state.observations = [] }
                state.isObserving = !state.observations.isEmpty
                return state.observations
            }
            if told.isEmpty { return }
            for (load, url, kind) in told {
                observer?.synchronizerDid(SynchronizerEvent(load: load, url: url, kind: kind, date: time.now))
            }
            state.withLock { $0.isObserving = false }
        }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .lookUp(let id, let request, let options, let handle):
            lookups.async { self.lookUp(id, request, options, handle) }
        case .proceed(let handle):
            handle.proceed()
        case .cancel(let handle):
            handle.cancel()
        case .grace(let id, let token):
            _ = time.schedule(after: grace) { self.update { $0.machine.graceEnded(id, token: token) } }
        case .pause(let token):
            _ = time.schedule(after: WasteBudget.pause) { self.update { $0.machine.pauseEnded(token: token) } }
        case .alarm(let delay):
            // Weakly: it may be set for long after the last load.
            _ = time.schedule(after: delay) { [weak self, time] in self?.update { $0.endWhatIsDue(at: time.now) } }
        case .wake(let id, let delay):
            _ = time.schedule(after: delay) { self.update { $0.machine.wake(id) } }
        case .parse(let id, let parse, let fetched, let request) where parse.isQuick:
            run(parse, id, on: fetched, from: request)
        case .parse(let id, let parse, let fetched, let request):
            parses.async { self.run(parse, id, on: fetched, from: request) }
        case .endParse(let id):
            update { $0.machine.parseEnded(id) }
        case .deliver(let receivers, let outcome):
            receivers.forEach { $0.finished(outcome) }
        }
    }

    // MARK: - Fetching

    private func lookUp(_ id: Int, _ request: URLRequest, _ options: FetchOptions, _ handle: FetchHandle) {
        if handle.isCancelled { return }
        let fetch = fetcher.fetch(request, options: options) { event in
            self.received(event, of: id, handle)
        }
        handle.started(fetch)
        reportStored(of: id)
    }

    private func received(_ event: FetchEvent, of id: Int, _ handle: FetchHandle) {
        switch event {
        case .needsNetwork:
            updateDownload(id, handle) { state in
                state.downloads[id]?.waitingSince = time.now
                state.machine.needsNetwork(id)
                state.note(id, .needsNetwork)
            }
        case .redirected(let url):
            if observer != nil { updateDownload(id, handle) { $0.note(id, .redirected(to: url)) } }
        case .response(let head, let expected):
            tellWatchers(of: id, handle, { $0.begin(head) }) { $0 = LoadProgress(received: 0, expected: expected) }
            if observer != nil { updateDownload(id, handle) { $0.note(id, .response(head.urlResponse)) } }
        case .received(let data):
            tellWatchers(of: id, handle, { $0.received(data) }) { $0.received += data.count }
            if observer != nil { updateDownload(id, handle) { $0.note(id, .data(data.count)) } }
        case .invalidated(let keys):
            invalidate(Set(keys), besides: id)
        case .stored(let bytes):
            if observer != nil { updateDownload(id, handle) { $0.note(id, .stored(bytes)) } }
        case .finished(let result):
            updateDownload(id, handle) { state in
                state.fetchEnded(id, result, retry, at: time.now)
            }
        }
    }

    /// Begins to make previews of a body that has not begun to arrive.
    private func startPreviews(of id: Int, _ job: LoadJob, _ state: inout State) {
        guard let makePreview = job.makePreview, let parse = state.parses[id], parse.previews == nil,
            state.downloads[parse.download]?.progress == LoadProgress(received: 0)
        else { return }
        state.parses[id]?.previews = PreviewRun(interval: previewInterval, time: time, makePreview: makePreview) {
            [weak self] object, head in
            let receivers = self?.update { state in
                state.parses[id]?.outcome == nil ? state.receivers(of: id) : []
            }
            receivers?.forEach { $0.previewed?(object, head) }
        }
    }

    /// As `update`, unless the download has a newer fetch by now.
    private func updateDownload(_ id: Int, _ handle: FetchHandle, _ change: (inout State) -> Void) {
        update { state in
            if state.downloads[id]?.handle === handle { change(&state) }
        }
    }

    /// Notes how far the transfer is, and tells those who look.
    private func tellWatchers(
        of id: Int, _ handle: FetchHandle, _ tell: (PreviewRun) -> Void, _ change: (inout LoadProgress) -> Void
    ) {
        let watchers: (progress: LoadProgress, previews: [PreviewRun], receivers: [LoadReceiver])? =
            state.withLock { state in
                guard let place = state.downloads.index(forKey: id),
                    state.downloads.values[place].handle === handle
                else { return nil }
                change(&state.downloads.values[place].progress)
                guard state.downloads.values[place].isWatched else { return nil }
                let parses = state.machine.parses(of: id)
                let receivers = parses.flatMap { state.receivers(of: $0) }
                return (
                    state.downloads.values[place].progress, parses.compactMap { state.parses[$0]?.previews },
                    receivers.filter { $0.progressed != nil }
                )
            }
        guard let watchers else { return }
        watchers.previews.forEach(tell)
        watchers.receivers.forEach { $0.progressed?(watchers.progress) }
    }

    // MARK: - Parsing

    private func run(_ parse: Parse, _ id: Int, on fetched: Fetched, from request: URLRequest) {
        parse.previews?.stop()
        let outcome: Outcome
        do {
            let loaded = try reusedObject(for: parse, fetched) ?? parsed(parse, fetched)
            if let key = parse.key { memory.remember(key, loaded) }
            outcome = .success(loaded)
        } catch {
            if parse.cancellation?.isCancelled != true { dropStored(fetched.trace.redirects.last, request) }
            outcome = .failure(
                .undecodable(
                    error,
                    .init(url: request.url, trace: fetched.trace, head: fetched.response, body: fetched.body)))
        }
        let isInvalidated = update { state in
            state.note(outcome, of: id)
            state.parses[id]?.outcome = outcome
            state.machine.parseEnded(id)
            return state.downloads[parse.download]?.isInvalidated ?? false
        }
        if isInvalidated, let key = parse.key { memory.forget([key.identity.cacheKey]) }
    }

    /// What has been made invalid (RFC 9111 §4.4): objects in memory, and loads that were asked for before.
    func invalidate(_ keys: Set<String>, besides id: Int? = nil) {
        update { $0.invalidate(keys, besides: id) }
        memory.forget(keys)
    }

    func parsed(_ parse: Parse, _ fetched: Fetched) throws -> LoadedObject {
        let begin = time.now
        let flag = parse.cancellation
        let parsed = try ParseCancellation.with({ flag?.isCancelled ?? false }) { try parse.run(fetched.body) }
        var trace = fetched.trace
        trace.parse = max(0, time.now.timeIntervalSince(begin))
        return LoadedObject(
            object: parsed.object, cost: parsed.cost, run: LoadedObject.Run(isPrefetched: parse.isPrefetched),
            head: fetched.response, freshUntil: fetched.freshUntil, isForThisLoadOnly: fetched.isForThisLoadOnly,
            trace: trace)
    }

    /// An object that was made from the very same bytes already, shown meanwhile or kept in memory.
    private func reusedObject(for parse: Parse, _ fetched: Fetched) -> LoadedObject? {
        if case .reported(let loaded, let body) = parse.stored, body == fetched.body {
            return loaded.reused(for: fetched)
        }
        guard let key = parse.key, let old = memory.recall(key), old.isMade(from: fetched) else { return nil }
        return old.reused(for: fetched)
    }

    /// What cannot be parsed is dropped, so that the next load asks the network. After redirects it is stored under
    /// the last target.
    private func dropStored(_ target: URL?, _ request: URLRequest) {
        var stored = request
        if let target { stored.url = target }
        fetcher.removeStored(for: stored)
    }
}

/// Tells a parse under way that nobody waits for it any more.
final class ParseFlag: Sendable {
    private let flag = Locked(false)

    var isCancelled: Bool { flag.withLock { $0 } }

    func cancel() { flag.withLock { $0 = true } }
}
