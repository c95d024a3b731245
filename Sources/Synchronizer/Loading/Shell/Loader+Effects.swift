import Foundation

extension Loader {
    /// An action with all that is needed to perform it outside the lock.
    enum Effect: Sendable {
        case lookUp(Machine.DownloadID, LoadJob, FetchHandle)
        /// Begin a fetch that does not look into the cache.
        case send(Machine.DownloadID, LoadJob, FetchHandle)
        case proceed(FetchHandle)
        case cancel(FetchHandle)
        case grace(Machine.DownloadID, token: Int)
        case pause(token: Int)
        case wake(Machine.DownloadID, after: TimeInterval)
        case alarm(after: TimeInterval)
        case parse(Machine.ParseID, Parse, Boxed<Fetched>)
        case parseStored(Machine.ParseID, Parse, Boxed<Fetched>)
        case preview(Machine.ParseID, PreviewRun)
        case stopPreview(PreviewRun)
        case deliver([(LoadReceiver.ID, LoadReceiver)], Outcome)
    }
}

extension Loader.State {
    typealias DownloadID = Loader.Machine.DownloadID
    typealias ParseID = Loader.Machine.ParseID

    /// All that is to be done now.
    mutating func takeEffects(at time: any TimeSource) -> [Loader.Effect] {
        let actions = machine.takeActions()
        defer { (extraEffects, ended) = ([], nil) }
        if actions.isEmpty, blank == nil { return extraEffects }
        let now = time.now
        let effects = actions.compactMap { effect(of: $0, at: now) }
        if let handle = blank.take().flatMap({ takeHandle(of: $0) }) { extraEffects.append(.cancel(handle)) }
        return effects + extraEffects
    }

    /// What an action takes, out of the records; and the records kept in step with the machine.
    private mutating func effect(of action: Loader.Machine.Action, at now: Date) -> Loader.Effect? {
        switch action {
        case .lookUp(let id):
            return begin(id, .started, now).map { .lookUp(id, $0, $1) }
        case .proceed(let id):
            if let handle = downloads[id]?.handle {
                if blank == id { blank = nil }
                noteWaited(id, now)
                note(id, .sent)
                return .proceed(handle)
            }
            return begin(id, .sent, now).map { .send(id, $0, $1) }
        case .restart(let id):
            downloads[id]?.waitingSince = now
            return takeHandle(of: id).map { .cancel($0) }
        case .release(let id):
            if downloads[id]?.isEndReported == false { note(id, .cancelled) }
            guard let download = downloads.remove(id) else { return nil }
            drop(download)
            return download.handle.map { .cancel($0) }
        case .beginGrace(let id, let token):
            return .grace(id, token: token)
        case .beginPause(let token):
            return .pause(token: token)
        case .parse(let id):
            return parseEffect(of: id)
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
            parse.cancellation?.cancel()
            return nil
        case .deliver(let id, let subscribers):
            return delivery(of: id, to: subscribers)
        }
    }

    /// A fetch begins: its job, and the handle that stands for it.
    private mutating func begin(_ id: DownloadID, _ kind: SynchronizerEvent.Kind, _ now: Date) -> (
        LoadJob, FetchHandle
    )? {
        guard let job = downloads[id]?.job else { return nil }
        noteWaited(id, now)
        note(id, kind)
        let handle = FetchHandle()
        downloads[id]?.handle = handle
        return (job, handle)
    }

    private mutating func takeHandle(of id: DownloadID) -> FetchHandle? {
        let handle = downloads[id]?.handle
        downloads[id]?.handle = nil
        return handle
    }

    private mutating func parseEffect(of id: ParseID) -> Loader.Effect? {
        if parses[id]?.job.parsesQuickly == false, parses[id]?.cancellation == nil {
            parses[id]?.cancellation = ParseFlag()
        }
        guard let parse = parses[id], case .success(let fetched)? = downloads[parse.download]?.result else {
            return nil
        }
        return .parse(id, parse, fetched)
    }

    private mutating func delivery(of id: ParseID, to subscribers: [LoadReceiver.ID]) -> Loader.Effect? {
        guard let parse = parses.remove(id) else { return nil }
        drop(parse)
        parse.previews?.stop()
        let receivers = subscribers.compactMap { id in self.receivers[id].map { (id, $0) } }
        if let ended, ended.parse == id { return .deliver(receivers, ended.outcome) }
        parse.cancellation?.cancel()  // that of what is stored may be under way
        guard case .failure(let error)? = downloads[parse.download]?.result else { return nil }
        note(parse.download, .failed(error))
        return .deliver(receivers, .failure(error))
    }

    // MARK: - Downloads

    mutating func begin(_ id: DownloadID, _ job: LoadJob, at now: Date) {
        downloads[id] = Loader.Download(job, at: now)
        deadlines.forget { downloads[$0] == nil }
        if let delay = deadlines.begin(id, at: now) { extraEffects.append(.alarm(after: delay)) }
        note(id, .queued)
    }

    /// Whether the handle stands for the fetch that the download has by now.
    func isCurrent(_ handle: FetchHandle, of id: DownloadID) -> Bool { downloads[id]?.handle === handle }

    /// The cache does not answer. A fetch that has found nothing is not kept if the download has to wait for its turn.
    mutating func needsNetwork(_ id: DownloadID, nothingStored: Bool, at now: Date) {
        guard let job = downloads[id]?.job, machine.needsNetwork(id, host: job.host) else { return }
        downloads[id]?.waitingSince = now
        if nothingStored { blank = id }
        note(id, .needsNetwork)
    }

    /// The fetch has given its answer: the end, or a failure that is to be tried again.
    mutating func fetchEnded(
        _ id: DownloadID, _ result: Result<Fetched, SynchronizerError>, _ retry: RetryPolicy, at now: Date
    ) {
        guard let download = downloads[id] else { return }
        switch result {
        case .success(var fetched):
            fetched.trace.queueWait = download.queueWait
            downloads[id]?.result = .success(Boxed(fetched))
            if let source = fetched.trace.source {
                if source != .network { note(id, .cached(source)) }
                // What the store answered says nothing of how the origin is.
                if source == .network || source == .revalidated { retries.succeeded(at: download.job.host, now: now) }
            }
            machine.fetchEnded(id, succeeded: true)
        case .failure(let error):
            let delay = retry.delay(
                before: download.job.request, failed: error, attempts: Int(download.attempts),
                elapsed: now.timeIntervalSince(download.startedAt), now: now, random: .random(in: 0...1))
            if let delay, retries.take(for: download.job.host, at: now) {
                return rest(id, after: delay, error, at: now)
            }
            downloads[id]?.result = .failure(error.asking(for: download.job.request.url))
            machine.fetchEnded(id, succeeded: false)
        }
    }

    private mutating func rest(_ id: DownloadID, after delay: TimeInterval, _ error: SynchronizerError, at now: Date) {
        downloads[id]?.attempts += 1
        downloads[id]?.handle = nil
        downloads[id]?.waitingSince = now
        machine.rest(id)
        note(id, .retrying(error, after: delay))
        extraEffects.append(.wake(id, after: delay))
    }

    /// Marks a load under way, and lets nobody join it.
    mutating func invalidate(_ id: DownloadID) {
        downloads[id]?.isInvalidated = true
        machine.closeToOthers(id)
    }

    /// Loads that have taken too long end with a time-out; their fetches are cancelled.
    mutating func endWhatIsDue(at now: Date) {
        for id in deadlines.due(at: now) {
            guard let download = downloads[id], download.result == nil else { continue }
            var trace = LoadTrace()
            trace.reason = "the whole load took too long"
            let context = SynchronizerError.Context(url: download.job.request.url, trace: trace)
            downloads[id]?.result = .failure(.transport(URLError(.timedOut), context))
            machine.fail(id)
        }
        deadlines.forget { downloads[$0] == nil }
        if let delay = deadlines.nextAlarm(at: now) { extraEffects.append(.alarm(after: delay)) }
    }

    private mutating func noteWaited(_ id: DownloadID, _ now: Date) {
        guard let since = downloads[id]?.waitingSince else { return }
        downloads[id]?.queueWait += max(0, now.timeIntervalSince(since))
    }

    // MARK: - What the observer hears

    mutating func note(_ download: DownloadID, _ kind: SynchronizerEvent.Kind) {
        guard isObserved else { return }
        switch kind {
        case .finished, .failed: downloads[download]?.isEndReported = true
        default: break
        }
        observations.append(
            Loader.Observation(load: Int(download.number), url: downloads[download]?.job.request.url, kind: kind))
    }

    /// A parse has ended for those who still wait for it.
    mutating func note(_ outcome: Loader.Outcome, of parse: ParseID) {
        guard isObserved, let download = parses[parse]?.download else { return }
        switch outcome {
        case .success(let loaded):
            if let seconds = loaded.trace.parse { note(download, .parsed(seconds)) }
            note(download, .finished(loaded.trace))
        case .failure(let error):
            note(download, .failed(error))
        }
    }
}
