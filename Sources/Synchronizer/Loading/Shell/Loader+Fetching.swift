import Foundation

// Starts fetches, and receives their events.
extension Loader {
    func lookUp(_ id: Machine.DownloadID, job: LoadJob, handle: FetchHandle) {
        if handle.isCancelled || failsBeforehand(id, job: job, handle: handle) { return }
        var options = job.options
        options.purpose = handle.isRepeated ? .loadAgain : .load
        start(id, job: job, options: options, handle: handle)
    }

    /// Sends the request of a load whose lookup missed, now that it has a network slot.
    func send(_ id: Machine.DownloadID, job: LoadJob, handle: FetchHandle) {
        if handle.isCancelled { return }  // a cancelled fetch would send its request before it is told
        var options = job.options
        options.purpose = .sendAfterMiss
        start(id, job: job, options: options, handle: handle)
    }

    private func start(
        _ id: Machine.DownloadID, job: LoadJob, options: FetchOptions, handle: FetchHandle
    ) {
        var options = options
        let download = state.withLock { $0.downloads[id] }
        options.waited = download?.waited ?? LeaseWait()
        if download?.ignoresDestination == true { options.file = options.file?.withoutDestination }
        options.takesObjects = derivedObjects != nil && job.isDerived
        let fetch = fetcher.fetch(job.request, options: options) { event in
            self.receive(event, of: id, handle: handle)
        }
        // Before the request is sent, because a fetch that has failed gives no stored response.
        if wantsStored(id) { reportStored(of: id, from: fetch) }
        handle.started(fetch)
        if wantsStored(id) { reportStored(of: id, from: fetch) }  // for a subscriber that came in the meantime
    }

    private func wantsStored(_ id: Machine.DownloadID) -> Bool {
        state.withLock { $0.downloads[id]?.wantsStored == true }
    }

    private func receive(_ event: FetchEvent, of id: Machine.DownloadID, handle: FetchHandle) {
        switch event {
        case .needsNetwork(let nothingStored):
            updateDownload(id, of: handle) { $0.needsNetwork(id, nothingStored: nothingStored, at: time.now) }
        case .waitsForLease:
            updateDownload(id, of: handle) { $0.waitsForLease(id, at: time.now) }
            if isOffline() { endBackOff(id) }  // the wait may have begun after `endBackOffs`
        case .waited(let end): updateDownload(id, of: handle) { $0.waited(id, end: end, at: time.now) }
        case .redirected(let url):
            if isObserved { updateDownload(id, of: handle) { $0.note(.redirected(to: url), of: id) } }
        case .response(let head, let expected):
            informWatchers(of: id, handle: handle, tell: { run, _ in run.begin(head) }) {
                $0.begin(received: 0, expected: expected)
            }
            if isObserved { updateDownload(id, of: handle) { $0.note(.response(head.urlResponse), of: id) } }
        case .offered(let offer): takeObjects(offer, of: id, handle: handle)
        case .resumed(let start, let expected):
            informWatchers(of: id, handle: handle, tell: { run, _ in run.resume(after: start) }) {
                $0.begin(received: start, expected: expected)
            }
        case .received(let data):
            informWatchers(of: id, handle: handle, tell: { $0.received(data, upTo: $1.received) }) {
                $0.received += data.count
            }
            if isObserved { updateDownload(id, of: handle) { $0.note(.data(data.count), of: id) } }
        case .spooling(let tap): attachStreams(to: tap, of: id, handle: handle)
        case .sent(let count, let expected):
            informWatchers(of: id, handle: handle, tell: { _, _ in }) {
                ($0.sent, $0.expectedToSend) = (count, expected)
            }
        case .authorized:
            updateDownload(id, of: handle) { $0.invalidate(id) }
        case .invalidated(let keys):
            invalidate(Set(keys), besides: id)
        case .stored(let bytes):
            if isObserved { updateDownload(id, of: handle) { $0.note(.stored(bytes), of: id) } }
        case .notStored(let reason):
            if isObserved { updateDownload(id, of: handle) { $0.note(.notStored(reason), of: id) } }
        case .finished(let result):
            if let newer = NewerResponse(result, for: state.withLock { $0.validJob(of: id)?.objectKey }) {
                memory.forgetOutdated(newer)
            }
            updateDownload(id, of: handle) { state in
                state.fetchEnded(id, with: result, at: time.now, jitter: .random(in: 0...1))
            }
        }
    }

    /// Fails a load whose file can't be put at its destination, before anything is transferred, unless other parses share the
    /// transfer. Returns whether it did.
    private func failsBeforehand(_ id: Machine.DownloadID, job: LoadJob, handle: FetchHandle) -> Bool {
        guard job.options.file != nil, let only = state.withLock({ $0.onlyJob(of: id) }), let error = only.objection
        else { return false }
        // The file system was asked without the lock. Another load may have subscribed since then.
        var fails = false
        updateDownload(id, of: handle) { state in
            guard state.onlyJob(of: id) === only else { return }
            fails = true
            let failure = SynchronizerError.file(error, .init(url: job.request.url, trace: LoadTrace()))
            state.fetchEnded(id, with: .failure(failure), at: time.now, jitter: .random(in: 0...1))
        }
        return fails
    }

    /// Begins to parse the body for those parses that can do it while it arrives.
    private func attachStreams(to tap: BodyTap, of id: Machine.DownloadID, handle: FetchHandle) {
        let (destination, parses) = state.withLock { state in
            (
                state.downloads[id]?.job.options.file?.destination,
                state.isCurrent(handle, of: id)
                    ? state.machine.parses(of: id).compactMap { id in state.parses[id].map { (id, $0.job) } } : []
            )
        }
        tap.askWhetherCoalesced { [weak self] in
            let only = self?.state.withLock { $0.onlyJob(of: id) }
            return only == nil || only?.options.file?.destination != destination
        }
        for (parse, job) in parses {
            guard let stream = job.makeStream(time: time) else { continue }
            tap.attach(stream.feed)
            let replaced = state.withLock { state in
                defer { state.parses.update(parse) { $0.stream = stream } }
                return state.parses[parse]?.stream
            }
            replaced?.stop()
        }
    }

    /// Starts to make previews, unless the body has begun to arrive.
    func startPreviews(of id: Machine.ParseID, job: LoadJob, in state: inout State) {
        guard job.hasPreviews, let parse = state.parses[id], parse.previews == nil,
            let download = state.downloads[parse.download], download.result == nil
        else { return }
        if let progress = download.handle?.progress, progress.received > 0 || progress.expected != nil { return }
        let run = PreviewRun(
            interval: previewInterval, time: time, makePreviewer: { job.makePreviewer() },
            isDue: { [weak self] in self?.update { $0.machine.previewIsDue(id) } },
            report: { [weak self] object, head in
                let receivers = self?.state.withLock { $0.receivers(of: id) }
                receivers?.forEach { $0.report(.previewed(object, head)) }
            })
        state.parses.update(id) { $0.previews = run }
    }

    func preview(_ id: Machine.ParseID, with run: PreviewRun) {
        run.preview()
        update { $0.machine.previewEnded(id) }
        run.previewed()
    }

    /// As `update`, unless the download has a newer fetch.
    private func updateDownload(_ id: Machine.DownloadID, of handle: FetchHandle, _ change: (inout State) -> Void) {
        update { state in
            if state.isCurrent(handle, of: id) { change(&state) }
        }
    }

    /// Updates the progress, and informs previews and receivers.
    @inline(never)
    private func informWatchers(
        of id: Machine.DownloadID, handle: FetchHandle, tell: (PreviewRun, LoadProgress) -> Void,
        _ change: (inout LoadProgress) -> Void
    ) {
        let watchers = state.withLock { state -> (LoadProgress, [PreviewRun], [LoadReceiver])? in
            guard state.isCurrent(handle, of: id) else { return nil }
            let progress = handle.note(change)
            guard let watchers = state.downloads[id]?.watchers, !watchers.isEmpty else { return nil }
            let staying = watchers.filter { state.receivers.contains($0) }
            if staying.count < watchers.count { state.downloads.update(id) { $0.watchers = staying } }
            return (
                progress, state.machine.parses(of: id).compactMap { state.parses[$0]?.previews },
                staying.compactMap { state.receivers[$0] }
            )
        }
        guard let (progress, previews, receivers) = watchers else { return }
        previews.forEach { tell($0, progress) }
        receivers.forEach { $0.report(.progressed(progress)) }
    }
}
