import Foundation

// Loads whose requests the hooks of the configuration change. The subscriber exists before the load: it waits for `prepare`,
// subscribes, and subscribes again with another request after `authenticate`.
extension Loader {
    /// The hooks for a load that is started in this call of a hook; nil if that hook could wait for itself.
    func hooks(in call: HookCall?) -> RequestHooks? {
        call?.isHook(of: self) == true ? nil : hooks
    }

    /// Adds a receiver, which subscribes to a load when its request is prepared.
    func prepare(_ job: LoadJob, for load: HookedLoad) -> LoadReceiver.ID {
        let id = state.withLock { $0.add(hooked(load)) }
        startTimer(of: load, as: id)
        begin(job.request, for: load, as: id)
        return id
    }

    /// Subscribes with a request when it is prepared.
    private func begin(_ request: URLRequest, for load: HookedLoad, as id: LoadReceiver.ID) {
        guard let prepare = load.hooks?.prepare else {
            enter(request, as: id)
            return
        }
        let task = Task {
            do {
                try await self.prepare(request, by: prepare, startedIn: load.startedIn) {
                    enter($0, as: id, unlessRemovedSince: $1)
                }
            } catch {
                if load.isOver { return }
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
    /// credentials of the old user.
    func prepared(_ request: URLRequest, by prepare: RequestHooks.Prepare) async throws -> URLRequest {
        var result = request
        try await self.prepare(request, by: prepare, startedIn: HookCall.current) { prepared, removals in
            result = prepared
            return state.withLock { !$0.hasRemoved(since: removals) }
        }
        return result
    }

    /// Prepares a request for `use`, and again if `use` returns false because everything was removed since the given number of
    /// removals. The number of attempts is limited, because the hook itself may remove everything each time: the last one gets no
    /// number.
    private func prepare(
        _ request: URLRequest, by prepare: RequestHooks.Prepare, startedIn call: HookCall?,
        use: (URLRequest, _ removals: Int?) -> Bool
    ) async throws {
        for attempt in 1...8 {
            let removals = state.withLock { $0.removals }
            let prepared = try await HookCall(of: self, within: call).run { try await prepare(request) }
            if use(prepared, attempt == 8 ? nil : removals) { return }
        }
    }

    /// The receiver that subscribes for the load.
    func hooked(_ load: HookedLoad) -> LoadReceiver {
        LoadReceiver(load.receiver.wants, isPrefetch: load.receiver.isPrefetch, hooked: load) { [self] step in
            guard case .finished(let id, .failure(let error)) = step else { return load.receiver.report(step) }
            if let request = load.otherVersion(after: error) { return begin(request, for: load, as: id) }
            guard let refusal = load.refusal(error, of: id) else {
                return load.receiver.report(.finished(id, .failure(error.asking(for: load.url))))
            }
            handle(refusal, of: load)
        }
    }

    /// Subscribes with this request, unless the load is over. Returns false, without effect, if everything was removed since the
    /// given number of removals.
    @discardableResult
    func enter(_ request: URLRequest, as id: LoadReceiver.ID, unlessRemovedSince removals: Int? = nil) -> Bool {
        let request = state.withLock { $0.receivers[id]?.hooked }?.constrained(request) ?? request
        let cookies = fetcher.sessionCookies(for: request)
        let entry = state.withLock { state -> (LoadJob, LoadReceiver)? in
            guard let receiver = state.receivers[id], let load = receiver.hooked, !load.isOver else { return nil }
            let sentAt = state.authentications.count
            let identity = ResourceIdentity(request, cacheKey: load.original.cacheKey)
            return (load.job(for: identity, cookies: cookies, sentAt: sentAt), receiver)
        }
        guard let (job, receiver) = entry else { return true }
        receiver.report(.prepared(job))
        let now = time.now
        let (isRemoved, known, toReport) = update(on: .caller) { state -> (Bool, LoadedObject?, Machine.DownloadID?) in
            // The time limit ends the load before it unsubscribes, so it cannot miss a subscription that is made here.
            guard state.receivers.contains(id), receiver.hooked?.isOver == false else { return (false, nil, nil) }
            if state.hasRemoved(since: removals) { return (true, nil, nil) }
            if let known = memory.known(job, now) { return (false, known, nil) }
            return (false, nil, subscribe(job, as: id, receiver: receiver, in: &state))
        }
        if let toReport { lookups.async { self.reportStored(of: toReport) } }
        guard let known else { return !isRemoved }
        note(.cached(known.sourceFromMemory(at: now, isOffline: isOffline())), url: job.request.url)
        receiver.report(.finished(id, .success(known.fromMemory(at: now, isOffline: isOffline()))))
        return true
    }

    // MARK: - Authentication

    /// Finds out what a refused load does next. If it ends before that is known, its refusal is forgotten.
    private func handle(_ refusal: Authentications<LoadReceiver.ID>.Refusal, of load: HookedLoad) {
        if load.isOver { return }
        let (step, removals) = state.withLock { ($0.authentications.refused(refusal), $0.removals) }
        let id = refusal.load
        load.onStop { [weak self] in _ = self?.state.withLock { $0.authentications.leave(id) } }
        perform(step, unlessRemovedSince: removals)
    }

    private func perform(_ step: Authentications<LoadReceiver.ID>.Step, unlessRemovedSince removals: Int) {
        switch step {
        case .wait: break
        case .send(let id, let request):
            // After a removal the new credentials may be those of the old user: the load begins again.
            if !enter(request, as: id, unlessRemovedSince: removals),
                let load = state.withLock({ $0.receivers[id]?.hooked })
            {
                begin(load.unprepared, for: load, as: id)
            }
        case .authenticate(let refusal): authenticate(refusal)
        case .fail(let id, let error): end(id, with: error)
        }
    }

    /// Calls `authenticate`. The call goes on if its loads are cancelled: a server may accept a refresh token only once.
    private func authenticate(_ refusal: Authentications<LoadReceiver.ID>.Refusal) {
        guard let authenticate = hooks?.authenticate, case .status(let response, _) = refusal.error else { return }
        let hookCall = HookCall(of: self, within: state.withLock { $0.receivers[refusal.load]?.hooked?.startedIn })
        let call = Authentications.Call(for: refusal)  // the task does not keep the body of the refusal
        Task {
            let result: Result<URLRequest?, any Error>
            do {
                let request = try await hookCall.run { try await authenticate(call.request, response) }
                result = .success(request)
            } catch {
                result = .failure(error)
            }
            let (steps, removals) = state.withLock { state in
                let receivers = state.receivers
                let steps = state.authentications.ended(call, with: result) { receivers.contains($0) }
                return (steps, state.removals)
            }
            steps.forEach { perform($0, unlessRemovedSince: removals) }
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
        // Stops it first, so that a hook that returns now subscribes no more.
        state.withLock { $0.receivers[id]?.hooked }?.stop()
        let error = update { state in
            var download = state.machine.download(of: id).flatMap { state.downloads[$0] }
            state.machine.unsubscribe(id)
            return download?.reachTimeLimit(at: time.now) ?? .reachedTimeLimit(whileWaitingFor: "a hook")
        }
        end(id, with: error)
    }

    /// Reports an event that belongs to no load to the observer.
    private func note(_ kind: SynchronizerEvent.Kind, url: URL?) {
        observer?.synchronizerDid(SynchronizerEvent(load: nil, url: url, kind: kind, date: time.now))
    }
}
