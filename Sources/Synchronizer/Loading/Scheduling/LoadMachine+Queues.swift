// The queues: which downloads and parses wait, and which of them may start.
extension LoadMachine {
    /// The parts of a download that the queues depend on.
    private struct QueueState {
        let stage: Stage
        let queuedOn: RecordID?
        let isVisible: Bool
        let rank: LoadRank

        init(_ download: Download, newestFirst: Bool) {
            stage = download.stage
            queuedOn = download.queuedOn
            isVisible = download.isVisible
            rank = LoadRank(download.priorities.highest, sequence: download.sequence, newestFirst: newestFirst)
        }
    }

    /// Changes a download, and updates its places in the queues.
    @inline(never)
    mutating func change(_ id: DownloadID, _ body: (inout Download) -> Void) {
        var states: (old: QueueState, new: QueueState)?
        downloads.update(id) { [newestFirst] download in
            let old = QueueState(download, newestFirst: newestFirst)
            body(&download)
            states = (old, QueueState(download, newestFirst: newestFirst))
        }
        guard let (old, new) = states else { return }
        visibleCount += (new.isVisible ? 1 : 0) - (old.isVisible ? 1 : 0)
        if let host = old.queuedOn, new.queuedOn == nil { network.stopWaiting(id, host: host) }
        switch new.stage {
        case .waitingToLookUp: lookups.set(id, rank: new.rank, in: &lookupPlaces)
        case .waitingForNetwork: if let host = new.queuedOn { network.wait(id, host: host, rank: new.rank) }
        case .loading: network.rerank(running: id, rank: new.rank)
        case .lookingUp, .arrived, .failed, .backingOff: break
        }
    }

    /// Frees what the download holds at its stage: its place in a queue, or its slot, and its host.
    mutating func leaveStage(of download: Download, id: DownloadID) {
        switch download.stage {
        case .waitingToLookUp: lookups.remove(id, in: &lookupPlaces)
        case .lookingUp: lookupsRunning -= 1
        case .waitingForNetwork(let host):
            network.stopWaiting(id, host: host)
            network.leave(host: host)
        case .loading(let host):
            network.end(id)
            network.leave(host: host)
        case .arrived, .failed, .backingOff: break
        }
    }

    /// Queues a parse if it may start as soon as there is a slot; a quick one starts at once.
    mutating func enqueue(_ id: ParseID) {
        guard let parse = parses[id] else { return }
        switch parse.stage {
        case .readingStored, .parsingStored, .parsing, .abandoned: return
        case .waiting where downloads[parse.download]?.stage != .arrived: return
        case .waiting, .storedWaiting: break
        }
        if parse.isQuick {
            start(id, parse: parse)
        } else {
            let rank = rank(parse.priorities.highest, sequence: parse.sequence)
            waitingParses.set(id, rank: rank, in: &parsePlaces)
        }
    }

    /// Parses the stored response if that waits, otherwise the body of the download: a parse never has two slots.
    private mutating func start(_ id: ParseID, parse: Parse) {
        if parse.stage == .storedWaiting {
            parses.update(id) { $0.stage = .parsingStored }
            if !parse.isQuick { auxiliary.beginStored(id) }
            actions.append(.parseStored(id))
        } else {
            parses.update(id) { $0.stage = .parsing }
            if !parse.isQuick { parsesRunning += 1 }
            actions.append(.parse(id))
        }
    }

    private func rank(_ priority: LoadPriority?, sequence: Int64) -> LoadRank {
        LoadRank(priority, sequence: sequence, newestFirst: newestFirst)
    }

    mutating func startPending() {
        startParses()
        startOnNetwork()
        while lookupsRunning < limits.lookups, let id = lookups.first, mayStart(id, rank: lookups.firstRank) {
            lookups.remove(id, in: &lookupPlaces)
            lookupsRunning += 1
            change(id) { $0.stage = .lookingUp }
            actions.append(.lookUp(id))
        }
    }

    /// Previews use slots that no parse needs, and give them up when one waits.
    private mutating func startParses() {
        while hasParseSlot, let id = waitingParses.popFirst(in: &parsePlaces) {
            if let parse = parses[id] { start(id, parse: parse) }
        }
        auxiliary.preempt(for: waitingParses.count).forEach { actions.append(.stopPreview($0)) }
        while hasParseSlot, let id = bestWaitingPreview {
            auxiliary.beginPreview(id)
            actions.append(.preview(id))
        }
    }

    private var hasParseSlot: Bool { parsesRunning + auxiliary.count < limits.parses }

    private var bestWaitingPreview: ParseID? {
        func rank(of id: ParseID) -> LoadRank {
            self.rank(parses[id]?.priorities.highest, sequence: parses[id]?.sequence ?? 0)
        }
        return auxiliary.waitingPreviews.max { rank(of: $0) < rank(of: $1) }
    }

    /// Bodies that wait for a parse slot take memory. While there are many, only loads of a higher priority start, and loads that
    /// need no parse slot. Newer loads of the same priority do not start: otherwise, of two hundred simultaneous requests, each
    /// would overtake the ones before it.
    private func mayStart(_ id: DownloadID, rank: LoadRank?) -> Bool {
        guard waitingParses.count >= limits.waitingParses, let best = waitingParses.firstRank, let rank else {
            return true
        }
        return best.priority < rank.priority || parsesQuickly(id)
    }

    private func parsesQuickly(_ id: DownloadID) -> Bool {
        guard let list = downloads[id]?.parses else { return false }
        return parses.first(in: list) { !$0.isQuick } == nil
    }

    private mutating func startOnNetwork() {
        repeat {
            while let next = network.next, mayStart(next.id, rank: next.rank),
                let (id, host) = network.start(whileVisible: visibleCount > 0)
            {
                change(id) { $0.stage = .loading(host) }
                actions.append(.proceed(id))
            }
        } while preempt()
    }

    /// Frees a network slot for a visible load; returns whether it did.
    private mutating func preempt() -> Bool {
        guard visibleCount > 0,
            let id = network.toPreempt(
                { downloads[$0]?.mayRestart ?? false }, for: { mayStart($0.id, rank: $0.rank) }),
            let download = downloads[id]
        else { return false }
        leaveStage(of: download, id: id)
        actions.append(.restart(id))
        change(id) { $0.stage = .waitingToLookUp }
        return true
    }
}
