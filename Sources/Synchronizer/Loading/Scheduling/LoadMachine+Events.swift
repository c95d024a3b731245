// The events that the shell reports.
extension LoadMachine {
    /// The parse and the download of a subscriber. The IDs are new where `isNew…` says so.
    struct Place: Hashable, Sendable {
        let parse: ParseID
        let isNewParse: Bool
        let download: DownloadID
        let isNewDownload: Bool
    }

    /// Adds a subscriber with the given ID. A nil request key is never coalesced. `mayRestart` says whether the request may be
    /// sent twice.
    mutating func subscribe(
        _ subscriber: SubscriberID, request: RequestKey?, parse parseKey: ParseKey?, isQuick: Bool = false,
        priority: LoadPriority, mayRestart: Bool = true
    ) -> Place {
        lastSequence += 1
        let sequence = lastSequence
        let joined = coalescedDownload(for: request)
        let download = joined ?? add(Download(key: request, sequence: sequence, mayRestart: mayRestart))
        let joinedParse = joined.flatMap { existingParse(of: $0, for: parseKey) }
        let parse =
            joinedParse
            ?? add(Parse(key: parseKey, download: download, sequence: sequence, isQuick: isQuick), to: download)
        add(Subscriber(parse: parse, priority: priority), as: subscriber)
        let promotion = newestFirst ? sequence : nil
        change(download) { download in
            if let promotion { download.sequence = promotion }
            download.interest = .subscribed
            download.priorities.add(priority)
        }
        if let promotion { parses.update(parse) { $0.sequence = promotion } }
        enqueue(parse)
        return Place(
            parse: parse, isNewParse: joinedParse == nil, download: download, isNewDownload: joined == nil)
    }

    private func existingParse(of download: DownloadID, for key: ParseKey?) -> ParseID? {
        guard let key, let list = downloads[download]?.parses else { return nil }
        return parses.first(in: list) { $0.key == key }
    }

    /// Removes a subscriber; has no effect after its delivery or removal.
    mutating func unsubscribe(_ id: SubscriberID) {
        guard let subscriber = subscribers[id], var parse = parses[subscriber.parse] else { return }
        subscribers.unlink(id, from: &parse.subscribers)
        subscribers.remove(id)
        parses.update(subscriber.parse) { $0.subscribers = parse.subscribers }
        parses.update(subscriber.parse) { $0.priorities.remove(subscriber.priority) }
        change(parse.download) { $0.priorities.remove(subscriber.priority) }
        if parse.subscribers.isEmpty {
            abandon(subscriber.parse)
        } else {
            enqueue(subscriber.parse)
        }
    }

    mutating func setPriority(_ priority: LoadPriority, of id: SubscriberID) {
        guard let subscriber = subscribers[id], let download = parses[subscriber.parse]?.download else { return }
        subscribers.update(id) { $0.priority = priority }
        parses.update(subscriber.parse) { $0.priorities.replace(subscriber.priority, by: priority) }
        change(download) { $0.priorities.replace(subscriber.priority, by: priority) }
        enqueue(subscriber.parse)
    }

    // MARK: - Fetches

    /// The cache does not answer; `host` identifies the server. Returns false, without effect, unless the download is being
    /// looked up.
    @discardableResult
    mutating func needsNetwork(_ id: DownloadID, host: @autoclosure () -> String) -> Bool {
        guard downloads[id]?.stage == .lookingUp else { return false }
        lookupsRunning -= 1
        let host = network.enter(host: host())
        change(id) { $0.stage = .waitingForNetwork(host) }
        return true
    }

    /// The fetch ended: with a body to parse, or with an error for all subscribers. Those that are about to see the stored response
    /// get the error afterwards.
    mutating func fetchEnded(_ id: DownloadID, succeeded: Bool) {
        guard let download = downloads[id], download.stage.isFetching else { return }
        arrive(download, id: id)
        if succeeded, !download.parses.isEmpty {
            for parse in parses.ids(in: download.parses) {
                auxiliary.stopWaiting(forPreview: parse)
                enqueue(parse)
            }
        } else {
            let ended = parses.ids(in: download.parses).filter { parses[$0]?.stage.isOfStored == false }
            ended.forEach { deliver($0) }
            guard downloads[id]?.parses.isEmpty == false else { return release(id) }
            parses(of: id).forEach { auxiliary.stopWaiting(forPreview: $0) }
            change(id) { $0.stage = .failed }
            closeToOthers(id)
        }
    }

    /// Gives the download up at any stage; has no effect once its body has arrived.
    mutating func fail(_ id: DownloadID) {
        guard let download = downloads[id], download.stage != .arrived else { return }
        arrive(download, id: id)
        deliverAll(of: download, id: id)
    }

    /// The fetch failed and will be retried: the download releases its slot until ``backOffEnded(_:)``.
    mutating func backOff(_ id: DownloadID) {
        guard let download = downloads[id], download.stage.isFetching else { return }
        leaveStage(of: download, id: id)
        change(id) { $0.stage = .backingOff }
        if download.parses.isEmpty { release(id) }
    }

    mutating func backOffEnded(_ id: DownloadID) {
        guard downloads[id]?.stage == .backingOff else { return }
        change(id) { $0.stage = .waitingToLookUp }
    }

    mutating func pauseEnded(token: Int) {
        if let next = network.throttle.pauseEnded(token) { actions.append(.beginPause(token: next)) }
    }

    private mutating func arrive(_ download: Download, id: DownloadID) {
        leaveStage(of: download, id: id)
        if case .loading = download.stage { network.throttle.ended() }
        change(id) { $0.stage = .arrived }
    }

    // MARK: - Parses

    mutating func parseEnded(_ id: ParseID) {
        guard let parse = parses[id], parse.stage.isRunning else { return }
        if !parse.isQuick { parsesRunning -= 1 }
        if parse.stage == .abandoned { return forget(id) }
        deliver(id)
        releaseIfUnused(parse.download)
    }

    /// A subscriber wants the stored response, which is being read: it is parsed before the body of the download. Returns false,
    /// without effect, if that body has arrived.
    mutating func expectStored(_ id: ParseID) -> Bool {
        guard let parse = parses[id], parse.stage == .waiting, downloads[parse.download]?.stage.isOver == false
        else { return false }
        parses.update(id) { $0.stage = .readingStored }
        return true
    }

    /// The stored response has been read, and waits for its parse.
    mutating func storedIsRead(_ id: ParseID) {
        guard parses[id]?.stage == .readingStored else { return }
        parses.update(id) { $0.stage = .storedWaiting }
        enqueue(id)
    }

    /// The stored response has been parsed and shown, or there is none to show.
    mutating func storedEnded(_ id: ParseID) {
        auxiliary.endStored(id)
        guard let parse = parses[id], parse.stage.isOfStored else { return }
        parses.update(id) { $0.stage = .waiting }
        guard downloads[parse.download]?.stage == .failed else { return enqueue(id) }
        deliver(id)
        releaseIfUnused(parse.download)
    }

    /// A preview can be made of the bytes so far: it waits for a slot that no parse needs.
    mutating func previewIsDue(_ id: ParseID) {
        guard let parse = parses[id], !parse.stage.isRunning, downloads[parse.download]?.stage.isOver == false
        else { return }
        auxiliary.wait(forPreview: id)
    }

    mutating func previewEnded(_ id: ParseID) {
        auxiliary.endPreview(id)
    }

    /// The last subscriber of the parse cancelled. A running parse holds its slot until it notices.
    private mutating func abandon(_ id: ParseID) {
        guard let parse = parses[id] else { return }
        unlink(id, from: parse.download)
        if parse.stage.isRunning {
            parses.update(id) { parse in
                parse.stage = .abandoned
                parse.key = nil  // no load coalesces with it any more, and the key would retain the caller's resource
            }
            actions.append(.abandon(id))
        } else {
            forget(id)
            actions.append(.deliver(id, to: Few()))
        }
        releaseIfUnused(parse.download)
    }

    private mutating func deliver(_ id: ParseID) {
        guard let parse = parses[id] else { return }
        let waiting = subscribers.ids(in: parse.subscribers)
        unlink(id, from: parse.download)
        forget(id)
        waiting.forEach { subscribers.remove($0) }
        change(parse.download) { $0.priorities.remove(parse.priorities) }
        actions.append(.deliver(id, to: waiting))
    }

    private mutating func deliverAll(of download: Download, id: DownloadID) {
        parses.ids(in: download.parses).forEach { deliver($0) }
        release(id)
    }
}
