import Foundation

extension Loader {
    /// An action with the records that it needs, so that it can be performed after the lock is released.
    ///
    /// Why there are two types: `LoadMachine.Action` has IDs only, so that the machine is pure and its actions can be compared in
    /// tests. The shell must read the records behind the IDs, and remove those of an ended load, in the same critical section as
    /// the decision. Otherwise a load that is cancelled or coalesced a moment later would change what an action means, and each
    /// action would take the lock once more.
    enum PreparedAction: Sendable {
        case lookUp(Machine.DownloadID, LoadJob, FetchHandle)
        /// Start a fetch that does not look into the cache.
        case send(Machine.DownloadID, LoadJob, FetchHandle)
        case proceed(FetchHandle)
        case cancel(FetchHandle)
        case gracePeriod(Machine.DownloadID, token: UInt32)
        case pause(token: Int)
        case backOff(Machine.DownloadID, after: TimeInterval)
        case alarm(after: TimeInterval)
        case parse(Machine.ParseID, ParseRecord, Boxed<Fetched>)
        case parseStored(Machine.ParseID, ParseRecord, Boxed<Fetched>)
        /// Report the progress to a subscriber that came while the body arrived.
        case reportProgress(LoadReceiver, LoadProgress)
        /// Show the stored response to a subscriber that came after the others had seen it.
        case showStored(LoadReceiver, Boxed<StoredCopy.Shown>)
        case preview(Machine.ParseID, PreviewRun)
        case stopPreview(PreviewRun)
        case deliver(Few<(LoadReceiver.ID, LoadReceiver)>, LoadResult)
    }
}

extension Loader.State {
    typealias DownloadID = Loader.Machine.DownloadID
    typealias ParseID = Loader.Machine.ParseID

    /// All actions to perform now, prepared.
    mutating func takeActions(at time: any TimeSource) -> Few<Loader.PreparedAction> {
        machine.startPending()
        var prepared = Few<Loader.PreparedAction>()
        if !machine.actions.isEmpty {
            let now = time.now
            for index in machine.actions.indices {
                if let action = prepare(machine.actions[index], at: now) { prepared.append(action) }
            }
            machine.forgetActions()
        }
        extraActions.forEach { prepared.append($0) }
        if let handle = lookupMissID.take().flatMap({ takeHandle(of: $0) }) { prepared.append(.cancel(handle)) }
        (extraActions, ended) = ([], nil)
        return prepared
    }

    /// Prepares an action, and updates the records to match the machine. Nil if there is nothing to perform.
    private mutating func prepare(_ action: Loader.Machine.Action, at now: Date) -> Loader.PreparedAction? {
        switch action {
        case .lookUp(let id):
            return begin(id, as: .started, at: now).map { .lookUp(id, $0, $1) }
        case .proceed(let id):
            if let handle = downloads[id]?.handle {
                if lookupMissID == id { lookupMissID = nil }
                downloads.update(id) { $0.endWait(at: now) }
                note(.sent, of: id)
                return .proceed(handle)
            }
            return begin(id, as: .sent, at: now).map { .send(id, $0, $1) }
        case .restart(let id):
            downloads.update(id) { $0.begin(.forSlot, at: now) }
            return takeHandle(of: id).map { .cancel($0) }
        case .release(let id):
            if downloads[id]?.isEndReported == false { note(.cancelled, of: id) }
            guard let download = downloads.remove(id) else { return nil }
            drop(download)
            return download.handle.map { .cancel($0) }
        case .beginGracePeriod(let id, let token):
            return .gracePeriod(id, token: token)
        case .beginPause(let token):
            return .pause(token: token)
        case .parse(let id):
            return preparedParse(of: id)
        case .parseStored(let id):
            guard let parse = parses[id], case .read(let fetched) = parse.stored else { return nil }
            return .parseStored(id, parse, fetched)
        case .preview(let id):
            return parses[id]?.previews.map { .preview(id, $0) }
        case .stopPreview(let id):
            return parses[id]?.previews.map { .stopPreview($0) }
        case .abandon(let id):
            guard let parse = parses.remove(id) else { return nil }
            drop(parse)
            parse.previews?.stop()
            parse.stream?.stop()
            parse.cancellation?.cancel()
            return nil
        case .deliver(let id, let subscribers):
            return delivery(of: id, to: subscribers)
        }
    }

    /// Begins a fetch; returns its job and the handle that represents it.
    private mutating func begin(
        _ id: DownloadID, as kind: SynchronizerEvent.Kind, at now: Date
    ) -> (LoadJob, FetchHandle)? {
        guard let download = downloads[id] else { return nil }
        note(kind, of: id)
        // There is still a fetch if it waited for another process when the network was switched off.
        if let waiting = takeHandle(of: id) { extraActions.append(.cancel(waiting)) }
        let handle = FetchHandle(isRepeated: download.hasLookedUp)
        downloads.update(id) {
            $0.endWait(at: now)
            $0.handle = handle
            $0.hasLookedUp = true
        }
        return (download.job, handle)
    }

    private mutating func takeHandle(of id: DownloadID) -> FetchHandle? {
        let handle = downloads[id]?.handle
        downloads.update(id) { $0.handle = nil }
        return handle
    }

    private mutating func preparedParse(of id: ParseID) -> Loader.PreparedAction? {
        if parses[id]?.job.parsesQuickly == false, parses[id]?.cancellation == nil {
            parses.update(id) { $0.cancellation = ParseFlag() }
        }
        guard let parse = parses[id], case .success(let fetched)? = downloads[parse.download]?.result else {
            return nil
        }
        return .parse(id, parse, fetched)
    }

    private mutating func delivery(of id: ParseID, to subscribers: Few<LoadReceiver.ID>) -> Loader.PreparedAction? {
        guard let parse = parses.remove(id) else { return nil }
        drop(parse)
        parse.previews?.stop()
        var receivers = Few<(LoadReceiver.ID, LoadReceiver)>()
        for id in subscribers { if let receiver = self.receivers[id] { receivers.append((id, receiver)) } }
        if let ended, ended.parse == id { return .deliver(receivers, ended.result) }
        parse.cancellation?.cancel()  // the parse of the stored response may be running
        guard case .failure(let error)? = downloads[parse.download]?.result else { return nil }
        if let object = parse.job.object(despite: error.value) {
            note(.finished(object.trace), of: parse.download)
            return .deliver(receivers, .success(object))
        }
        if isObserved {
            let continues =
                !receivers.isEmpty && receivers.allSatisfy { $0.1.hooked?.continues(after: error.value) ?? false }
            note(continues ? .refused(error.value) : .failed(error.value), of: parse.download)
        }
        return .deliver(receivers, .failure(error.value))
    }

    // MARK: - Downloads

    mutating func begin(_ id: DownloadID, job: LoadJob, at now: Date) {
        downloads.insert(Loader.LoadRecord(job, at: now), as: id)
        deadlines.forget(besides: downloads.count) { downloads[$0] == nil }
        if let delay = deadlines.begin(id, at: now) { extraActions.append(.alarm(after: delay)) }
        note(.queued, of: id)
    }

    /// Whether the handle represents the current fetch of the download.
    func isCurrent(_ handle: FetchHandle, of id: DownloadID) -> Bool {
        downloads[id]?.handle.map { $0.isSame(as: handle) } ?? false
    }

    /// The cache does not answer. If nothing is stored and the download must wait for a slot, its fetch is dropped.
    mutating func needsNetwork(_ id: DownloadID, nothingStored: Bool, at now: Date) {
        guard let job = downloads[id]?.job, machine.needsNetwork(id, host: job.host) else { return }
        downloads.update(id) { $0.begin(.forSlot, at: now) }
        if nothingStored { lookupMissID = id }
        note(.needsNetwork, of: id)
    }

    /// The fetch ended: with a result for the subscribers, or with a failure to retry.
    mutating func fetchEnded(
        _ id: DownloadID, with result: Result<Fetched, SynchronizerError>, at now: Date,
        jitter: @autoclosure () -> Double
    ) {
        guard let download = downloads[id] else { return }
        downloads.update(id) { $0.handle = nil }  // there is nothing to cancel any more
        switch result {
        case .success(var fetched):
            endedFetches += 1
            fetched.order.ended = endedFetches
            download.complete(&fetched.trace)
            downloads.update(id) { $0.result = .success(Boxed(fetched)) }
            if let source = fetched.trace.source {
                if source != .network { note(.cached(source), of: id) }
                // A response from the store says nothing about the state of the origin.
                if source == .network || source == .revalidated { retries.succeeded(at: download.job.host, now: now) }
            }
            machine.fetchEnded(id, succeeded: true)
        case .failure(let error):
            let isAwaited = !machine.parses(of: id).isEmpty
            if isAwaited, restart(id, after: error, at: now) { return }
            let failure = RetryPolicy.Failure(
                request: download.job.request, isSafe: download.job.options.body != nil, error: error,
                attempts: Int(download.attempts),
                elapsed: now.timeIntervalSince(download.startedAt))
            if isAwaited, let delay = retries.delay(after: failure, of: download.job.host, at: now, jitter: jitter()) {
                return backOff(id, for: delay, after: error, at: now)
            }
            let error = error.asking(for: download.job.request.url, tracing: download.complete)
            downloads.update(id) { $0.result = .failure(Boxed(error)) }
            machine.fetchEnded(id, succeeded: false)
        }
    }

    private mutating func backOff(
        _ id: DownloadID, for delay: TimeInterval, after error: SynchronizerError, at now: Date
    ) {
        downloads.update(id) { download in
            download.attempts += 1
            download.begin(.forSlot, at: now)
        }
        machine.backOff(id)
        note(.retrying(error, after: delay), of: id)
        extraActions.append(.backOff(id, after: delay))
    }

    /// Marks a load in flight as invalidated, and lets no load coalesce with it.
    mutating func invalidate(_ id: DownloadID) {
        downloads.update(id) { $0.isInvalidated = true }
        machine.closeToOthers(id)
    }

    /// Keeps no object that is made from the response of a download. A download without a response gets a newer one.
    mutating func forgetObject(of id: DownloadID) {
        if downloads[id]?.result != nil { downloads.update(id) { $0.isInvalidated = true } }
    }

    // MARK: - Events for the observer

    mutating func note(_ kind: SynchronizerEvent.Kind, of download: DownloadID) {
        guard isObserved else { return }
        switch kind {
        case .finished, .failed, .refused: downloads.update(download) { $0.isEndReported = true }
        default: break
        }
        observations.append(
            Loader.Observation(load: Int(download.number), url: downloads[download]?.job.request.url, kind: kind))
    }

    /// Notes the result of a parse for its subscribers.
    mutating func note(_ result: LoadResult, of parse: ParseID) {
        guard isObserved, let download = parses[parse]?.download else { return }
        switch result {
        case .success(let loaded):
            if let seconds = loaded.trace.parse { note(.parsed(seconds), of: download) }
            note(.finished(loaded.trace), of: download)
        case .failure(let error):
            note(.failed(error), of: download)
        }
    }
}
