// What waits, and what of it may begin.
extension LoadMachine {
    /// Changes a download and keeps its places in the queues in step.
    mutating func change(_ id: DownloadID, _ body: (inout Download) -> Void) {
        guard let (old, new) = downloads[id]?.changed(by: body) else { return }
        visibleCount += (new.isVisible ? 1 : 0) - (old.isVisible ? 1 : 0)
        if old.stage == .waitingForNetwork, new.stage != .waitingForNetwork, let host = new.host {
            network.stopWaiting(id, host: host)
        }
        let rank = rank(new.priority, turn: new.turn)
        switch new.stage {
        case .waitingToLookUp: lookups.set(id, rank: rank, &lookupPlaces)
        case .waitingForNetwork: if let host = new.host { network.wait(id, host: host, rank: rank) }
        case .loading: network.rerank(running: id, rank: rank)
        case .lookingUp, .arrived, .parked, .resting: break
        }
    }

    mutating func arrive(_ download: Download, _ id: DownloadID) {
        leaveStage(of: download, id)
        if download.stage == .loading { network.waste.ended() }
        change(id) { $0.stage = .arrived }
    }

    mutating func leaveStage(of download: Download, _ id: DownloadID) {
        switch download.stage {
        case .waitingToLookUp: lookups.remove(id, &lookupPlaces)
        case .lookingUp: lookupsRunning -= 1
        case .waitingForNetwork: if let host = download.host { network.stopWaiting(id, host: host) }
        case .loading: network.end(id)
        case .arrived, .parked, .resting: break
        }
    }

    mutating func enqueue(_ id: ParseID) {
        guard let parse = parses[id], !parse.isRunning else { return }
        switch parse.stored {
        case .beingRead, .running: return
        case .none where downloads[parse.download]?.stage != .arrived: return
        case .waiting, .none: break
        }
        if parse.isQuick {
            start(id, parse)
        } else {
            waitingParses.set(id, rank: rank(parse.priorities.highest, turn: parse.turn), &parsePlaces)
        }
    }

    /// Parses what is stored, or else the answer: a parse never has two turns.
    private mutating func start(_ id: ParseID, _ parse: Parse) {
        if parse.stored == .waiting {
            parses[id]?.stored = .running
            if !parse.isQuick { sideTurns.beginStored(id) }
            actions.append(.parseStored(id))
        } else {
            parses[id]?.isRunning = true
            if !parse.isQuick { parsesRunning += 1 }
            actions.append(.parse(id))
        }
    }

    private func rank(_ priority: LoadPriority?, turn: Int64) -> LoadRank {
        LoadRank(priority: priority ?? .veryLow, turn: newestFirst ? turn : -turn)
    }

    mutating func startWhatMay() {
        startParses()
        startOnNetwork()
        while lookupsRunning < limits.lookups, let id = lookups.first, mayBegin(id, lookups.firstRank) {
            lookups.remove(id, &lookupPlaces)
            lookupsRunning += 1
            change(id) { $0.stage = .lookingUp }
            actions.append(.lookUp(id))
        }
    }

    /// Previews take what no parse needs, and make way where one waits.
    private mutating func startParses() {
        while hasParseTurn, let id = waitingParses.popFirst(&parsePlaces) {
            if let parse = parses[id] { start(id, parse) }
        }
        sideTurns.makeWay(for: waitingParses.count).forEach { actions.append(.stopPreview($0)) }
        while hasParseTurn, let id = bestWaitingPreview {
            sideTurns.beginPreview(id)
            actions.append(.preview(id))
        }
    }

    private var hasParseTurn: Bool { parsesRunning + sideTurns.count < limits.parses }

    private var bestWaitingPreview: ParseID? {
        func rank(of id: ParseID) -> LoadRank { self.rank(parses[id]?.priorities.highest, turn: parses[id]?.turn ?? 0) }
        return sideTurns.waitingPreviews.max { rank(of: $0) < rank(of: $1) }
    }

    /// Bodies that wait to be parsed take memory: as long as there are many, only what is more urgent begins. What is as
    /// urgent, but newer, does not: of two hundred photographs asked for at once each would overtake those before it.
    private func mayBegin(_ id: DownloadID, _ rank: LoadRank?) -> Bool {
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
            while let next = network.next, mayBegin(next.id, next.rank),
                let id = network.start(whileVisible: visibleCount > 0)
            {
                change(id) { $0.stage = .loading }
                actions.append(.proceed(id))
            }
        } while preempt()
    }

    /// Makes room for something visible; whether it did.
    private mutating func preempt() -> Bool {
        guard visibleCount > 0, let id = network.toPreempt(for: { mayBegin($0.id, $0.rank) }) else { return false }
        network.end(id)
        actions.append(.restart(id))
        change(id) { $0.stage = .waitingToLookUp }
        return true
    }
}
