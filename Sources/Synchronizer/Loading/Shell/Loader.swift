import Foundation

/// Performs the actions of ``LoadMachine``: looks up, fetches, parses and delivers.
///
/// Its state is behind one lock, under which only the machine runs and records change. Actions are performed after the lock is
/// released, so they cannot call back into a locked loader.
final class Loader: Sendable {
    typealias Machine = LoadMachine<DownloadKey, ParseKey>

    /// The memory cache of parsed objects, as closures of the owner of the loader.
    struct Memory: Sendable {
        /// Returns the object at any age.
        var recall: @Sendable (ObjectKey) -> LoadedObject?
        /// Called with each parsed object before its subscribers get it.
        var remember: @Sendable (ObjectKey, LoadedObject) -> Void
        /// Called with an object that must not be kept after all.
        var forgetObject: @Sendable (ObjectKey, LoadedObject) -> Void = { _, _ in }
        /// Called with cache keys whose objects were invalidated.
        var forget: @Sendable (Set<String>) -> Void = { _ in }
        /// Called with a response from the network. Forgets the objects of its URL that were made from older ones.
        var forgetOutdated: @Sendable (NewerResponse) -> Void = { _ in }
        /// Returns the object that answers a load, if its cache policy allows it.
        var known: @Sendable (LoadJob, Date) -> LoadedObject? = { _, _ in nil }
    }

    let fetcher: any Fetching
    let time: any TimeSource
    let memory: Memory
    let observer: (any SynchronizerObserver)?
    /// Whether there is an observer. A separate `Bool`, because reading the observer itself would retain and release it.
    let isObserved: Bool
    let hooks: RequestHooks?
    /// Whether the network is switched off. It becomes true before ``endBackOffs()`` is called.
    let isOffline: @Sendable () -> Bool
    private let gracePeriod: TimeInterval
    let timeLimit: TimeInterval
    let previewInterval: TimeInterval
    let derivedObjects: DerivedObjects?
    let state: Locked<State>
    let lookups = DispatchQueue(label: "Synchronizer.lookups", qos: .userInitiated, attributes: .concurrent)
    let storing = StoringQueue()
    let parses = DispatchQueue(label: "Synchronizer.parses", qos: .parsing, attributes: .concurrent)

    init(
        fetcher: any Fetching, time: any TimeSource, limits: Machine.Limits, newestFirst: Bool,
        gracePeriod: TimeInterval,
        retry: RetryPolicy, timeLimit: TimeInterval, previewInterval: TimeInterval = 0.25,
        derivedObjects: DerivedObjects? = nil, memory: Memory,
        hooks: RequestHooks? = nil, isOffline: @escaping @Sendable () -> Bool = { false },
        observer: (any SynchronizerObserver)? = nil
    ) {
        self.fetcher = fetcher
        self.time = time
        self.gracePeriod = gracePeriod
        self.memory = memory
        self.hooks = hooks
        self.isOffline = isOffline
        self.timeLimit = timeLimit
        self.previewInterval = previewInterval
        self.derivedObjects = derivedObjects
        self.observer = observer
        isObserved = observer != nil
        state = Locked(
            State(
                machine: Machine(limits: limits, newestFirst: newestFirst, hasGracePeriod: gracePeriod > 0),
                retries: RetryDecisions(retry), deadlines: Deadlines(limit: timeLimit), isObserved: observer != nil))
    }

    // MARK: - Subscribing and cancelling

    /// The result of `load`: an object that is in memory after all, or the ID of the receiver.
    enum Ticket: Sendable {
        case known(LoadedObject)
        case waiting(LoadReceiver.ID)
    }

    /// Coalesces with a load, or begins one. `known` is called under the lock, so that an object that has just been parsed is not
    /// loaded again. If `known` returns an object, no load begins. A thread that may block looks into the cache itself, if there is
    /// a slot. `outer` is the call of a hook that starts the load.
    func load(
        _ job: LoadJob, unless known: (ObjectKey) -> LoadedObject? = { _ in nil }, mayBlock: Bool = false,
        startedIn outer: @autoclosure () -> HookCall? = HookCall.current, receiver: LoadReceiver
    ) -> Ticket {
        let call = self.hooks == nil ? nil : outer()
        let hooks = self.hooks(in: call)
        if hooks != nil || job.otherVersion != nil, receiver.hooked == nil {
            let load = HookedLoad(
                job, receiver: receiver, hooks: hooks, startedIn: call,
                sentAt: state.withLock { $0.authentications.count })
            if !job.isPrepared, hooks?.prepare != nil { return .waiting(prepare(job, for: load)) }
            let ticket = self.load(job, unless: known, mayBlock: mayBlock, receiver: hooked(load))
            if case .waiting(let id) = ticket { startTimer(of: load, as: id) }
            return ticket
        }
        let (ticket, toReport): (Ticket, Machine.DownloadID?) = update(on: mayBlock ? .callerThatMayBlock : .caller) {
            state in
            if let key = job.objectKey, let object = known(key) { return (.known(object), nil) }
            let id = state.add(receiver)
            return (.waiting(id), subscribe(job, as: id, receiver: receiver, in: &state))
        }
        if let toReport { lookups.async { self.reportStored(of: toReport) } }
        return ticket
    }

    /// Subscribes to a load, or begins one. Returns the download whose stored response must be reported, if there is one.
    func subscribe(
        _ job: LoadJob, as id: LoadReceiver.ID, receiver: LoadReceiver, in state: inout State
    ) -> Machine.DownloadID? {
        let place = state.machine.subscribe(
            id, request: job.downloadKey, parse: job.parseKey, isQuick: job.parsesQuickly,
            priority: receiver.hooked?.priority ?? job.priority,  // it may have changed since the job was made
            mayRestart: RetryPolicy.maySendAgain(job.request, isSafe: job.options.body != nil))
        if place.isNewDownload { state.begin(place.download, job: job, at: time.now) }
        if place.isNewParse { state.parses.insert(ParseRecord(job: job, download: place.download), as: place.parse) }
        if receiver.isPrefetch { state.parses.update(place.parse) { $0.isPrefetched = true } }
        if receiver.isWatching {
            state.watch(place.download, as: id)
            if let progress = state.downloads[place.download]?.handle?.progress, progress != LoadProgress(received: 0) {
                state.extraActions.append(.reportProgress(receiver, progress))
            }
        }
        if receiver.wants.contains(.previews) { startPreviews(of: place.parse, job: job, in: &state) }
        let wantsStored = receiver.wants.contains(.stored) && state.want(storedOf: place.parse)
        if receiver.wants.contains(.stored), case .reported(let shown)? = state.parses[place.parse]?.stored {
            state.extraActions.append(.showStored(receiver, shown))
        }
        return wantsStored && !place.isNewDownload ? place.download : nil
    }

    /// Gives a receiver its result without a load.
    func answer(_ receiver: LoadReceiver, with loaded: LoadedObject) -> LoadReceiver.ID {
        let id = state.withLock { $0.add(receiver) }
        receiver.report(.finished(id, .success(loaded)))
        return id
    }

    /// Takes the right to answer the caller: true once, and not after the caller has cancelled.
    func take(_ id: LoadReceiver.ID) -> Bool {
        let receiver = state.withLock { $0.take(id) }
        receiver?.hooked?.stop()
        return receiver != nil
    }

    /// Cancels a receiver: it is not called after this returns, except by a call in progress. Returns whether it had no result
    /// yet.
    @discardableResult
    func leave(_ id: LoadReceiver.ID) -> Bool {
        let receiver = update(on: .caller) { state -> LoadReceiver? in
            guard let receiver = state.take(id) else { return nil }
            state.machine.unsubscribe(id)
            return receiver
        }
        receiver?.hooked?.stop()
        return receiver != nil
    }

    /// Changes the priorities of receivers in one step, so that the first one of a group does not take the slots of the others.
    func setPriority(_ priority: LoadPriority, of ids: [LoadReceiver.ID]) {
        update(on: .caller) { state in
            for id in ids {
                state.receivers[id]?.hooked?.setPriority(priority)
                state.machine.setPriority(priority, of: id)
            }
        }
    }

    /// Looks up the loads that back off, because the network was switched off: now only the cache can answer them.
    func endBackOffs() {
        update { state in state.downloads.ids.forEach { state.machine.backOffEnded($0) } }
    }

    /// Looks up a load that backs off.
    func endBackOff(_ id: Machine.DownloadID) {
        update { $0.machine.backOffEnded(id) }
    }

    /// The kind of the current thread.
    enum Thread {
        case own
        /// Must not parse, and must not wait for the disk.
        case caller
        case callerThatMayBlock
    }

    /// Changes the state, then performs the machine's actions.
    func update<T>(on thread: Thread = .own, _ change: (inout State) -> T) -> T {
        let (value, actions, dropped) = state.withLock { state in
            let value = change(&state)
            let actions = state.takeActions(at: time)
            defer { state.dropped = Few() }
            return (value, actions, state.dropped)
        }
        if isObserved { informObserver() }
        withExtendedLifetime(dropped) {}
        if thread == .callerThatMayBlock, case .lookUp(let id, let job, let handle)? = actions.only {
            lookUp(id, job: job, handle: handle)
        } else {
            actions.forEach { perform($0, on: thread) }
        }
        return value
    }

    /// Reports events to the observer in order, on one thread at a time.
    private func informObserver() {
        while true {
            let events = state.withLock { state -> [Observation] in
                guard !state.isObserving else { return [] }
                defer { state.observations = [] }
                state.isObserving = !state.observations.isEmpty
                return state.observations
            }
            if events.isEmpty { return }
            for event in events {
                observer?.synchronizerDid(
                    SynchronizerEvent(load: event.load, url: event.url, kind: event.kind, date: time.now))
            }
            state.withLock { $0.isObserving = false }
        }
    }

    /// Whether this thread sends a request. If the fetch ends before it has sent, as when the network was switched off, another
    /// load gets its slot in the same call. That load must not send in that call, too: with many loads, the stack would overflow.
    @TaskLocal private static var isSending = false

    private func useNetwork(_ action: PreparedAction) {
        Self.$isSending.withValue(true) {
            switch action {
            case .send(let id, let job, let handle): send(id, job: job, handle: handle)
            case .proceed(let handle): handle.proceed()
            default: break
            }
        }
    }

    private func perform(_ action: PreparedAction, on thread: Thread) {
        switch action {
        case .lookUp(let id, let job, let handle):
            lookups.async { self.lookUp(id, job: job, handle: handle) }
        // Sending reads cookies, and their storage may wait for the disk.
        case .send, .proceed:
            if thread == .caller || Self.isSending {
                lookups.async { self.useNetwork(action) }
            } else {
                useNetwork(action)
            }
        case .cancel(let handle):
            handle.cancel()
        case .gracePeriod(let id, let token):
            _ = time.schedule(after: gracePeriod) { self.update { $0.machine.gracePeriodEnded(id, token: token) } }
        case .pause(let token):
            _ = time.schedule(after: CancellationThrottle.pause) { self.update { $0.machine.pauseEnded(token: token) } }
        case .alarm(let delay):
            // Weak, because the alarm may go off long after the last load.
            _ = time.schedule(after: delay) { [weak self, time] in self?.update { $0.failOverdue(at: time.now) } }
        case .backOff(let id, let delay):
            _ = time.schedule(after: delay) { self.endBackOff(id) }
            if isOffline() { endBackOff(id) }  // it may have begun after `endBackOffs`
        case .parse(let id, let parse, let fetched)
        where (parse.job.parsesQuickly || parse.derived != nil) && thread != .caller:
            self.parse(id, parse: parse, of: fetched.value)
        case .parse(let id, let parse, let fetched):
            parses.async { self.parse(id, parse: parse, of: fetched.value) }
        case .parseStored(let id, let parse, let fetched):
            parses.async { self.parseStored(id, parse: parse, of: fetched.value) }
        case .reportProgress(let receiver, let progress):
            receiver.report(.joined(progress))
        case .showStored(let receiver, let shown):
            receiver.report(.stored(shown.value.object))
        case .preview(let id, let run):
            parses.async { self.preview(id, with: run) }
        case .stopPreview(let run):
            run.yield()
        case .deliver(let receivers, let result):
            for (id, receiver) in receivers { receiver.report(.finished(id, result)) }
        }
    }
}
