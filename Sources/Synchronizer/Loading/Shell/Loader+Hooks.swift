import Foundation

// Loads whose requests the hooks of the configuration change. The subscriber exists before the load: it waits for `prepare`,
// subscribes, and subscribes again with another request after `authenticate`.
extension Loader {
    /// Adds a receiver, which subscribes to a load when its request is prepared.
    func prepare(_ job: LoadJob, for load: HookedLoad) -> LoadReceiver.ID {
        let id = state.withLock { $0.add(hooked(load)) }
        startTimer(of: load, as: id)
        begin(job.request, for: load, as: id)
        return id
    }

    /// Subscribes with a request when it is prepared.
    private func begin(_ request: URLRequest, for load: HookedLoad, as id: LoadReceiver.ID) {
        guard let prepare = load.hooks?.prepare else { return enter(request, as: id) }
        let task = Task {
            do {
                enter(try await prepared(request, by: prepare), as: id)
            } catch {
                let error = SynchronizerError.hookFailed(error, .init(url: load.url, trace: LoadTrace()))
                end(id, with: error)
            }
        }
        load.onStop { task.cancel() }
    }

    /// Starts the timer that limits the time of a load with its hooks. A download has a limit of its own, but a hook has none.
    func startTimer(of load: HookedLoad, as id: LoadReceiver.ID) {
        guard timeLimit < .infinity else { return }
        load.onStop(time.schedule(after: timeLimit) { [weak self] in self?.expire(id) })
    }

    /// Prepares a request. If everything was removed before the hook returned, prepares it again, because it may have the
    /// credentials of the old user. The number of attempts is limited, because the hook itself may remove everything each time.
    func prepared(_ request: URLRequest, by prepare: RequestHooks.Prepare) async throws -> URLRequest {
        var attempts = 0
        while true {
            attempts += 1
            let removals = state.withLock { $0.removals }
            let prepared = try await RequestHooks.$isRunning.withValue(true) { try await prepare(request) }
            if attempts == 8 || state.withLock({ $0.removals }) == removals { return prepared }
        }
    }

    /// The receiver that subscribes for the load.
    func hooked(_ load: HookedLoad) -> LoadReceiver {
        LoadReceiver(load.receiver.wants, isPrefetch: load.receiver.isPrefetch, hooked: load) { [self] step in
            guard case .finished(let id, .failure(let error)) = step else { return load.receiver.report(step) }
            if let request = load.lowDataRequest(after: error) { return begin(request, for: load, as: id) }
            guard let refusal = load.refusal(error, of: id) else {
                return load.receiver.report(.finished(id, .failure(error.asking(for: load.url))))
            }
            perform(state.withLock { $0.authentications.refused(refusal) })
        }
    }

    /// Subscribes with this request, unless the load is over.
    private func enter(_ request: URLRequest, as id: LoadReceiver.ID) {
        let cookies = fetcher.sessionCookies(for: request)
        let entry = state.withLock { state -> (LoadJob, LoadReceiver)? in
            guard let receiver = state.receivers[id], let load = receiver.hooked else { return nil }
            let sentAt = state.authentications.count
            let identity = ResourceIdentity(request, cacheKey: load.original.cacheKey)
            return (load.job(for: identity, cookies: cookies, sentAt: sentAt), receiver)
        }
        guard let (job, receiver) = entry else { return }
        receiver.report(.prepared(job))
        let now = time.now
        let (known, toReport) = update(on: .caller) { state -> (LoadedObject?, Machine.DownloadID?) in
            guard state.receivers.contains(id) else { return (nil, nil) }
            if let known = memory.known(job, now) { return (known, nil) }
            return (nil, subscribe(job, as: id, receiver: receiver, in: &state))
        }
        if let toReport { lookups.async { self.reportStored(of: toReport) } }
        guard let known else { return }
        note(.cached(.memory), url: job.request.url)
        receiver.report(.finished(id, .success(known.fromMemory(at: now))))
    }

    // MARK: - Authentication

    private func perform(_ step: Authentications<LoadReceiver.ID>.Step) {
        switch step {
        case .wait: break
        case .send(let id, let request): enter(request, as: id)
        case .authenticate(let refusal): authenticate(refusal)
        case .fail(let id, let error): end(id, with: error)
        }
    }

    /// Calls `authenticate`. The call goes on if its loads are cancelled: a server may accept a refresh token only once.
    private func authenticate(_ refusal: Authentications<LoadReceiver.ID>.Refusal) {
        guard let authenticate = hooks?.authenticate, case .status(let response, _) = refusal.error else { return }
        Task {
            let result: Result<URLRequest?, any Error>
            do {
                let request = try await RequestHooks.$isRunning.withValue(true) {
                    try await authenticate(refusal.request, response)
                }
                result = .success(request)
            } catch {
                result = .failure(error)
            }
            let steps = state.withLock { state in
                let receivers = state.receivers
                return state.authentications.ended(refusal, with: result) { receivers.contains($0) }
            }
            steps.forEach(perform)
        }
    }

    // MARK: - Ends

    /// Ends a load that failed in a hook.
    private func end(_ id: LoadReceiver.ID, with error: SynchronizerError) {
        guard let load = state.withLock({ $0.receivers[id]?.hooked }) else { return }
        let error = error.asking(for: load.url)
        note(.failed(error), url: load.url)
        load.receiver.report(.finished(id, .failure(error)))
    }

    /// The load has reached its time limit, in a hook or after it.
    private func expire(_ id: LoadReceiver.ID) {
        update { $0.machine.unsubscribe(id) }
        var trace = LoadTrace()
        trace.reason = "the load reached its time limit"
        let url = state.withLock { $0.receivers[id]?.hooked?.url }
        end(id, with: .transport(URLError(.timedOut), .init(url: url, trace: trace)))
    }

    /// Reports an event that belongs to no load to the observer.
    private func note(_ kind: SynchronizerEvent.Kind, url: URL?) {
        observer?.synchronizerDid(SynchronizerEvent(load: nil, url: url, kind: kind, date: time.now))
    }
}
