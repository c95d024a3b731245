import Foundation

/// Performs what ``LoadMachine`` decides: shares, schedules, fetches, parses and delivers.
///
/// All of its state is behind one lock, under which only the machine runs and records are kept. What the machine asks
/// for is done after the lock is released; so nothing that it does can call back into a locked loader.
final class Loader: Sendable {
    typealias Machine = LoadMachine<DownloadKey, ObjectKey>
    typealias Outcome = Result<LoadedObject, SynchronizerError>

    private struct Download {
        let request: URLRequest
        var options: FetchOptions
        var handle = FetchHandle()
        var waitingSince: Date
        var queueWait: TimeInterval = 0
        var result: Result<Fetched, SynchronizerError>?
    }

    private struct Parse {
        let download: Int
        let key: ObjectKey?
        let run: @Sendable (Data) throws -> (object: any Sendable, cost: Int)
        let cancellation = ParseFlag()
        var outcome: Outcome?
    }

    private struct State {
        var machine: Machine
        var downloads: [Int: Download] = [:]
        var parses: [Int: Parse] = [:]
        var subscribers: [Int: @Sendable (Outcome) -> Void] = [:]
    }

    /// An action with all that is needed to perform it outside the lock.
    private enum Effect {
        case lookUp(Int, URLRequest, FetchOptions, FetchHandle)
        case proceed(FetchHandle)
        case cancel(FetchHandle)
        case grace(Int, token: Int)
        case parse(Int, Parse, Fetched, from: URLRequest)
        case abandon(ParseFlag)
        case deliver([@Sendable (Outcome) -> Void], Outcome)
    }

    private let fetcher: any Fetching
    private let time: any TimeSource
    private let grace: TimeInterval
    private let remember: @Sendable (ObjectKey, LoadedObject) -> Void
    private let state: Locked<State>
    private let lookups = DispatchQueue(label: "Synchronizer.lookups", qos: .userInitiated, attributes: .concurrent)
    private let parses = DispatchQueue(label: "Synchronizer.parses", qos: .userInitiated, attributes: .concurrent)

    /// `remember` is given each parsed object before its subscribers are.
    init(
        fetcher: any Fetching, time: any TimeSource, limits: Machine.Limits, newestFirst: Bool, grace: TimeInterval,
        remember: @escaping @Sendable (ObjectKey, LoadedObject) -> Void
    ) {
        self.fetcher = fetcher
        self.time = time
        self.grace = grace
        self.remember = remember
        state = Locked(State(machine: Machine(limits: limits, newestFirst: newestFirst, hasGrace: grace > 0)))
    }

    // MARK: - Asking and leaving

    /// Joins a load, or begins one. `receive` is called once, on a background thread, unless the subscription is
    /// cancelled before. `recall` is asked again under the lock, so that an object that has just been parsed is not
    /// loaded a second time; if it has one, nothing is begun and it is returned.
    func load(
        _ job: LoadJob, recall: @Sendable (ObjectKey) -> LoadedObject? = { _ in nil },
        receive: @escaping @Sendable (Outcome) -> Void
    ) -> LoadTicket {
        let ticket: LoadTicket = update { state in
            if let key = job.objectKey, let known = recall(key) { return .known(known) }
            let place = state.machine.subscribe(
                request: job.downloadKey, parse: job.objectKey, host: job.host, priority: job.priority)
            if place.isNewDownload {
                let options = FetchOptions(maximumBodySize: job.maximumBodySize)
                state.downloads[place.download] = Download(
                    request: job.request, options: options, waitingSince: time.now)
            }
            if place.isNewParse {
                state.parses[place.parse] = Parse(
                    download: place.download, key: job.isRemembered ? job.objectKey : nil, run: job.parse)
            }
            state.subscribers[place.subscriber] = receive
            return .waiting(place.subscriber)
        }
        return ticket
    }

    /// Leaves a load: `receive` is not called any more once this has returned, unless it is being called.
    func leave(_ subscriber: Int) {
        update { state in
            state.subscribers[subscriber] = nil
            state.machine.unsubscribe(subscriber)
        }
    }

    func setPriority(_ priority: LoadPriority, of subscriber: Int) {
        update { $0.machine.setPriority(priority, of: subscriber) }
    }

    /// Changes the state, then does what the machine asks for.
    private func update<T>(_ change: (inout State) -> T) -> T {
        let (value, effects) = state.withLock { state in
            let value = change(&state)
            return (value, state.machine.takeActions().compactMap { effect(of: $0, &state) })
        }
        effects.forEach(perform)
        return value
    }

    // MARK: - Actions

    /// What an action takes, out of the records; and the records kept in step with the machine.
    private func effect(of action: Machine.Action, _ state: inout State) -> Effect? {
        switch action {
        case .lookUp(let id):
            noteWaited(id, &state)
            return state.downloads[id].map { .lookUp(id, $0.request, $0.options, $0.handle) }
        case .proceed(let id):
            noteWaited(id, &state)
            return state.downloads[id].map { .proceed($0.handle) }
        case .restart(let id):
            guard let handle = state.downloads[id]?.handle else { return nil }
            state.downloads[id]?.handle = FetchHandle()
            state.downloads[id]?.waitingSince = time.now
            return .cancel(handle)
        case .release(let id):
            return state.downloads.removeValue(forKey: id).map { .cancel($0.handle) }
        case .beginGrace(let id, let token):
            return .grace(id, token: token)
        case .parse(let id):
            guard let parse = state.parses[id], let download = state.downloads[parse.download],
                case .success(var fetched)? = download.result
            else { return nil }
            fetched.trace.queueWait = download.queueWait
            return .parse(id, parse, fetched, from: download.request)
        case .abandon(let id):
            return state.parses.removeValue(forKey: id).map { .abandon($0.cancellation) }
        case .deliver(let id, let subscribers):
            return delivery(of: id, to: subscribers, &state)
        }
    }

    private func delivery(of id: Int, to subscribers: [Int], _ state: inout State) -> Effect? {
        guard let parse = state.parses.removeValue(forKey: id) else { return nil }
        let receivers = subscribers.compactMap { state.subscribers.removeValue(forKey: $0) }
        if let outcome = parse.outcome { return .deliver(receivers, outcome) }
        guard case .failure(let error)? = state.downloads[parse.download]?.result else { return nil }
        return .deliver(receivers, .failure(error))
    }

    private func noteWaited(_ id: Int, _ state: inout State) {
        guard let since = state.downloads[id]?.waitingSince else { return }
        state.downloads[id]?.queueWait += max(0, time.now.timeIntervalSince(since))
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
        case .parse(let id, let parse, let fetched, let request):
            parses.async { self.run(parse, id, on: fetched, from: request) }
        case .abandon(let flag):
            flag.cancel()
        case .deliver(let receivers, let outcome):
            receivers.forEach { $0(outcome) }
        }
    }

    // MARK: - Fetching

    private func lookUp(_ id: Int, _ request: URLRequest, _ options: FetchOptions, _ handle: FetchHandle) {
        if handle.isCancelled { return }
        let fetch = fetcher.fetch(request, options: options) { event in
            self.received(event, of: id, handle)
        }
        handle.started(fetch)
    }

    private func received(_ event: FetchEvent, of id: Int, _ handle: FetchHandle) {
        switch event {
        case .needsNetwork:
            updateDownload(id, handle) { state in
                state.downloads[id]?.waitingSince = time.now
                state.machine.needsNetwork(id)
            }
        case .redirected, .response, .received:
            break
        case .finished(let result):
            updateDownload(id, handle) { state in
                state.downloads[id]?.result = result
                let succeeded = if case .success = result { true } else { false }
                state.machine.fetchEnded(id, succeeded: succeeded)
            }
        }
    }

    /// As `update`, unless the download has a newer fetch by now.
    private func updateDownload(_ id: Int, _ handle: FetchHandle, _ change: (inout State) -> Void) {
        update { state in
            if state.downloads[id]?.handle === handle { change(&state) }
        }
    }

    // MARK: - Parsing

    private func run(_ parse: Parse, _ id: Int, on fetched: Fetched, from request: URLRequest) {
        let begin = time.now
        var trace = fetched.trace
        let outcome: Outcome
        do {
            let flag = parse.cancellation
            let parsed = try ParseCancellation.with({ flag.isCancelled }) { try parse.run(fetched.body) }
            trace.parse = max(0, time.now.timeIntervalSince(begin))
            let loaded = LoadedObject(
                object: parsed.object, cost: parsed.cost, head: fetched.response, freshUntil: fetched.freshUntil,
                trace: trace)
            if let key = parse.key { remember(key, loaded) }
            outcome = .success(loaded)
        } catch {
            if !parse.cancellation.isCancelled { dropStored(trace.redirects.last, request) }
            outcome = .failure(.undecodable(error, .init(url: request.url, trace: trace)))
        }
        update { state in
            state.parses[id]?.outcome = outcome
            state.machine.parseEnded(id)
        }
    }

    /// What cannot be parsed is dropped, so that the next load asks the network. After redirects it is stored under
    /// the last target.
    private func dropStored(_ target: URL?, _ request: URLRequest) {
        var stored = request
        if let target { stored.url = target }
        fetcher.removeStored(for: stored)
    }
}

/// What `Loader.load` gives: an object that was there after all, or the place to leave.
enum LoadTicket: Sendable {
    case known(LoadedObject)
    case waiting(Int)
}

/// Tells a parse under way that nobody waits for it any more.
final class ParseFlag: Sendable {
    private let flag = Locked(false)

    var isCancelled: Bool { flag.withLock { $0 } }

    func cancel() { flag.withLock { $0 = true } }
}
