import Foundation
import HTTPCaching

extension Loader {
    /// An action with all that is needed to perform it outside the lock.
    enum Effect {
        case lookUp(Int, URLRequest, FetchOptions, FetchHandle)
        case proceed(FetchHandle)
        case cancel(FetchHandle)
        case grace(Int, token: Int)
        case pause(token: Int)
        case wake(Int, after: TimeInterval)
        case alarm(after: TimeInterval)
        case parse(Int, Parse, Fetched, from: URLRequest)
        /// Of a parse that was abandoned before it began.
        case endParse(Int)
        case deliver([LoadReceiver], Outcome)
    }
}

extension Loader.State {
    /// What an action takes, out of the records; and the records kept in step with the machine.
    mutating func effect(of action: Loader.Machine.Action, at now: Date) -> Loader.Effect? {
        switch action {
        case .lookUp(let id):
            noteWaited(id, now)
            note(id, .started)
            return downloads[id].map { .lookUp(id, $0.request, $0.options, $0.handle) }
        case .proceed(let id):
            noteWaited(id, now)
            note(id, .sent)
            return downloads[id].map { .proceed($0.handle) }
        case .restart(let id):
            guard let handle = downloads[id]?.handle else { return nil }
            downloads[id]?.handle = FetchHandle()
            downloads[id]?.waitingSince = now
            return .cancel(handle)
        case .release(let id):
            if downloads[id]?.isEndReported == false { note(id, .cancelled) }
            return downloads.removeValue(forKey: id).map { .cancel($0.handle) }
        case .beginGrace(let id, let token):
            return .grace(id, token: token)
        case .beginPause(let token):
            return .pause(token: token)
        case .parse(let id):
            return mustWaitForStored(id) ? nil : parseEffect(of: id)
        case .abandon(let id):
            guard let parse = parses.removeValue(forKey: id) else { return nil }
            dropped.parses.append(parse)
            parse.previews?.stop()
            parse.cancellation?.cancel()
            return parse.isWaitingForStored ? .endParse(id) : nil
        case .deliver(let id, let subscribers):
            return delivery(of: id, to: subscribers)
        }
    }

    mutating func parseEffect(of id: Int) -> Loader.Effect? {
        if parses[id]?.cancellation == nil { parses[id]?.cancellation = ParseFlag() }
        guard let parse = parses[id], let download = downloads[parse.download],
            case .success(let box)? = download.result
        else { return nil }
        var fetched = box.value
        fetched.trace.queueWait = download.queueWait
        return .parse(id, parse, fetched, from: download.request)
    }

    private mutating func delivery(of id: Int, to subscribers: [Int]) -> Loader.Effect? {
        guard let parse = parses.removeValue(forKey: id) else { return nil }
        dropped.parses.append(parse)
        parse.previews?.stop()
        let receivers = subscribers.compactMap { self.receivers.removeValue(forKey: $0) }
        if let outcome = parse.outcome { return .deliver(receivers, outcome) }
        guard case .failure(let error)? = downloads[parse.download]?.result else { return nil }
        note(parse.download, .failed(error))
        return .deliver(receivers, .failure(error))
    }

    func receivers(of parse: Int) -> [LoadReceiver] {
        machine.subscribers(of: parse).compactMap { receivers[$0] }
    }

    /// The fetch has given its answer: the end, or a failure that is to be tried again.
    mutating func fetchEnded(
        _ id: Int, _ result: Result<Fetched, SynchronizerError>, _ retry: RetryPolicy, at now: Date
    ) {
        guard let download = downloads[id] else { return }
        if case .failure(let error) = result,
            let delay = retry.delay(
                before: download.request, failed: error, attempts: download.attempts,
                elapsed: now.timeIntervalSince(download.startedAt), now: now, random: .random(in: 0...1)),
            retries.take(for: download.origin)
        {
            downloads[id]?.attempts += 1
            downloads[id]?.handle = FetchHandle()
            downloads[id]?.waitingSince = now
            machine.rest(id)
            note(id, .retrying(error, after: delay))
            extraEffects.append(.wake(id, after: delay))
        } else {
            downloads[id]?.result = result.map(Boxed.init).mapError { $0.asking(for: download.request.url) }
            if case .success(let fetched) = result, let source = fetched.trace.source, source != .network {
                note(id, .cached(source))
            }
            if case .success(let fetched) = result {
                // What the store answered says nothing of how the origin is.
                if [.network, .revalidated].contains(fetched.trace.source) { retries.succeeded(at: download.origin) }
                machine.fetchEnded(id, succeeded: true)
            } else {
                machine.fetchEnded(id, succeeded: false)
            }
        }
    }

    /// Marks the loads under way of these cache keys, and lets nobody join them.
    mutating func invalidate(_ keys: Set<String>, besides id: Int?) {
        for (other, download) in downloads where other != id && !download.isInvalidated {
            guard let url = download.request.url, keys.contains(cacheKey(of: url.absoluteString)) else { continue }
            downloads[other]?.isInvalidated = true
            machine.closeToOthers(other)
        }
    }

    mutating func noteBeginning(of id: Int, at now: Date) {
        deadlines.forget { downloads[$0] == nil }
        if let delay = deadlines.begin(id, at: now) { extraEffects.append(.alarm(after: delay)) }
    }

    /// Loads that have taken too long end with a time-out; their fetches are cancelled.
    mutating func endWhatIsDue(at now: Date) {
        for id in deadlines.due(at: now) {
            guard let download = downloads[id], download.result == nil else { continue }
            var trace = LoadTrace()
            trace.reason = "the whole load took too long"
            let context = SynchronizerError.Context(url: download.request.url, trace: trace)
            downloads[id]?.result = .failure(.transport(URLError(.timedOut), context))
            machine.fail(id)
        }
        deadlines.forget { downloads[$0] == nil }
        if let delay = deadlines.nextAlarm(at: now) { extraEffects.append(.alarm(after: delay)) }
    }

    private mutating func noteWaited(_ id: Int, _ now: Date) {
        guard let since = downloads[id]?.waitingSince else { return }
        downloads[id]?.queueWait += max(0, now.timeIntervalSince(since))
    }

    // MARK: - What the observer hears

    mutating func note(_ download: Int, _ kind: SynchronizerEvent.Kind) {
        guard isObserved else { return }
        switch kind {
        case .finished, .failed: downloads[download]?.isEndReported = true
        default: break
        }
        observations.append((download, downloads[download]?.request.url, kind))
    }

    /// A parse has ended for those who still wait for it.
    mutating func note(_ outcome: Loader.Outcome, of parse: Int) {
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
