import Foundation

/// Performs what ``LoadMachine`` decides: shares, schedules, fetches, parses and delivers.
///
/// All of its state is behind one lock, under which only the machine runs and records are kept. What the machine asks
/// for is done after the lock is released; so nothing that it does can call back into a locked loader.
final class Loader: Sendable {
    typealias Machine = LoadMachine<DownloadKey, ParseKey>
    typealias Outcome = Result<LoadedObject, SynchronizerError>

    /// The parsed objects that outlive their loads, which are kept by whoever uses the loader.
    struct Memory: Sendable {
        /// The object, whatever its age.
        var recall: @Sendable (ObjectKey) -> LoadedObject?
        /// Told of each parsed object before its subscribers are.
        var remember: @Sendable (ObjectKey, LoadedObject) -> Void
        /// Told of an object that is not to be kept after all.
        var forgetObject: @Sendable (ObjectKey) -> Void = { _ in }
        /// Told of cache keys whose objects are not valid any more.
        var forget: @Sendable (Set<String>) -> Void = { _ in }
    }

    let fetcher: any Fetching
    let time: any TimeSource
    let memory: Memory
    let observer: (any SynchronizerObserver)?
    /// Whether there is one: asking the observer itself would count its references each time.
    let isObserved: Bool
    private let grace: TimeInterval
    let previewInterval: TimeInterval
    let retry: RetryPolicy
    let state: Locked<State>
    let lookups = DispatchQueue(label: "Synchronizer.lookups", qos: .userInitiated, attributes: .concurrent)
    let parses = DispatchQueue(label: "Synchronizer.parses", qos: .parsing, attributes: .concurrent)

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
        isObserved = observer != nil
        state = Locked(
            State(
                machine: Machine(limits: limits, newestFirst: newestFirst, hasGrace: grace > 0),
                deadlines: Deadlines(limit: timeLimit), isObserved: observer != nil))
    }

    // MARK: - Asking and leaving

    /// What `load` gives: an object that was there after all, or the receiver's place.
    enum Ticket: Sendable {
        case known(LoadedObject)
        case waiting(LoadReceiver.ID)
    }

    /// Joins a load, or begins one. `known` is asked under the lock, so that an object that has just been parsed is
    /// not loaded a second time; if it has one, nothing is begun. A thread that may block looks into the cache itself,
    /// if there is a turn for it now.
    func load(
        _ job: LoadJob, unless known: (ObjectKey) -> LoadedObject? = { _ in nil }, mayBlock: Bool = false,
        receiver: LoadReceiver
    ) -> Ticket {
        let (ticket, toReport): (Ticket, Machine.DownloadID?) = update(on: mayBlock ? .callersThatMayBlock : .callers) {
            state in
            if let key = job.objectKey, let object = known(key) { return (.known(object), nil) }
            let id = state.add(receiver)
            let place = state.machine.subscribe(
                id, request: job.downloadKey, parse: job.parseKey, isQuick: job.parsesQuickly, priority: job.priority)
            if place.isNewDownload { state.begin(place.download, job, at: time.now) }
            if place.isNewParse { state.parses[place.parse] = Parse(job: job, download: place.download) }
            if receiver.isPrefetch { state.parses[place.parse]?.isPrefetched = true }
            if receiver.isWatching { state.downloads[place.download]?.watchers.append(id) }
            if receiver.previewed != nil { startPreviews(of: place.parse, job, &state) }
            let wantsStored = receiver.stored != nil && state.want(storedOf: place.parse)
            return (.waiting(id), wantsStored && !place.isNewDownload ? place.download : nil)
        }
        if let toReport { lookups.async { self.reportStored(of: toReport) } }
        return ticket
    }

    /// Gives a receiver its answer without a load.
    func answer(_ receiver: LoadReceiver, with loaded: LoadedObject) -> LoadReceiver.ID {
        let id = state.withLock { $0.add(receiver) }
        receiver.finished(id, .success(loaded))
        return id
    }

    /// The right to answer the caller: given out once, and not after it has left.
    func take(_ id: LoadReceiver.ID) -> Bool {
        let receiver = state.withLock { $0.take(id) }
        return receiver != nil
    }

    /// Leaves a load: the receiver is not told anything more once this has returned, unless it is being told. Whether it
    /// had not been answered yet.
    @discardableResult
    func leave(_ id: LoadReceiver.ID) -> Bool {
        let receiver = update(on: .callers) { state -> LoadReceiver? in
            guard let receiver = state.take(id) else { return nil }
            state.machine.unsubscribe(id)
            return receiver
        }
        return receiver != nil
    }

    func setPriority(_ priority: LoadPriority, of id: LoadReceiver.ID) {
        update(on: .callers) { $0.machine.setPriority(priority, of: id) }
    }

    /// Whose thread it is on which something happens.
    enum Thread {
        case ours
        /// Nothing is parsed on it, nor the disk waited for.
        case callers
        case callersThatMayBlock
    }

    /// Changes the state, then does what the machine asks for.
    func update<T>(on thread: Thread = .ours, _ change: (inout State) -> T) -> T {
        let (value, effects, dropped) = state.withLock { state in
            let value = change(&state)
            let effects = state.takeEffects(at: time)
            defer { state.dropped = [] }
            return (value, effects, state.dropped)
        }
        if isObserved { tellObserver() }
        withExtendedLifetime(dropped) {}
        if thread == .callersThatMayBlock, effects.count == 1,
            case .lookUp(let id, let job, let handle)? = effects.first
        {
            lookUp(id, job, handle)
        } else {
            effects.forEach { perform($0, on: thread) }
        }
        return value
    }

    /// Tells the observer what there is to tell, in the order in which it happened, one thread at a time.
    private func tellObserver() {
        while true {
            let told = state.withLock { state -> [Observation] in
                guard !state.isObserving else { return [] }
                defer { state.observations = [] }
                state.isObserving = !state.observations.isEmpty
                return state.observations
            }
            if told.isEmpty { return }
            for event in told {
                observer?.synchronizerDid(
                    SynchronizerEvent(load: event.load, url: event.url, kind: event.kind, date: time.now))
            }
            state.withLock { $0.isObserving = false }
        }
    }

    private func perform(_ effect: Effect, on thread: Thread) {
        switch effect {
        case .lookUp(let id, let job, let handle):
            lookups.async { self.lookUp(id, job, handle) }
        // What is sent takes cookies along, and their storage may be waiting for the disk.
        case .send(let id, let job, let handle) where thread == .callers:
            lookups.async { self.send(id, job, handle) }
        case .proceed(let handle) where thread == .callers:
            lookups.async { handle.proceed() }
        case .send(let id, let job, let handle):
            send(id, job, handle)
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
        case .parse(let id, let parse, let fetched) where parse.job.parsesQuickly && thread != .callers:
            run(parse, id, on: fetched.value)
        case .parse(let id, let parse, let fetched):
            parses.async { self.run(parse, id, on: fetched.value) }
        case .parseStored(let id, let parse, let fetched):
            parses.async { self.runStored(parse, id, on: fetched.value) }
        case .preview(let id, let run):
            parses.async { self.preview(id, run) }
        case .stopPreview(let run):
            run.makeWay()
        case .deliver(let receivers, let outcome):
            for (id, receiver) in receivers { receiver.finished(id, outcome) }
        }
    }
}
