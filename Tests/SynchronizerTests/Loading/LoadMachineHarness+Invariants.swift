@testable import Synchronizer

// The conditions that hold for each choice, and after each step.
extension LoadMachineHarness {
    private func rank(_ priority: LoadPriority?, _ sequence: Int64) -> LoadRank {
        LoadRank(priority: priority ?? .veryLow, sequence: newestFirst ? sequence : -sequence)
    }

    /// No better download may be waiting. For the network, only those count that their host lets start.
    mutating func checkOrder(of id: RecordID, among stage: Stage) {
        guard let download = downloads[id] else { return }
        let chosen = rank(download.priority, download.sequence)
        for (other, waiting) in downloads where waiting.stage == stage && other != id && waiting.hasSubscribers {
            guard chosen < rank(waiting.priority, waiting.sequence) else { continue }
            let mayStart = stage != .waitingForNetwork || loading(on: waiting.host) < limits.network.perHost
            expect(!mayStart, "\(id) came before \(other)")
        }
        if stage == .waitingForNetwork, !download.isVisible, hasVisible(besides: id) {
            let most = limits.network.total - limits.network.reserve
            expect(count(.loading) < most, "\(id) took a slot that is kept for what is visible")
        }
    }

    mutating func checkOrder(ofParse id: RecordID) {
        guard let parse = parses[id] else { return }
        let chosen = rank(priority(ofParse: id), parse.sequence)
        for (other, waiting) in parses where other != id && isWaiting(waiting) {
            expect(!(chosen < rank(priority(ofParse: other), waiting.sequence)), "parse \(id) came before \(other)")
        }
    }

    /// Only speculative loads give way, the least urgent first, and only to visible ones.
    mutating func checkPreempted(_ victim: RecordID) {
        guard let gone = downloads[victim] else { return }
        expect(!gone.isVisible, "a visible load was preempted: \(victim)")
        expect(
            downloads.contains { $0.value.stage == .waitingForNetwork && $0.value.isVisible }, "preempted needlessly")
        for (other, download) in downloads where download.stage == .loading && download.host == gone.host {
            let isLess = (download.priority ?? .veryLow) < (gone.priority ?? .veryLow)
            expect(!isLess, "\(victim) was preempted before \(other), which is less urgent")
        }
    }

    mutating func checkInvariants() {
        expect(count(.lookingUp) <= limits.lookups, "too many lookups")
        expect(count(.loading) <= limits.network.total, "too many loads")
        expect(takenSlots <= limits.parses, "too many parses")
        for (id, download) in downloads {
            expect(loading(on: download.host) <= limits.network.perHost, "too many loads on \(download.host)")
            expect(
                download.hasSubscribers || hasGrace && !download.graceTokens.isEmpty, "kept without subscribers: \(id)")
        }
        for (id, download) in downloads where download.stage == .backingOff {
            expect(download.hasSubscribers, "\(id) is to be retried without subscribers")
        }
        for (id, download) in downloads where download.stage == .failed {
            let showsStored = parses.contains { $0.value.download == id && $0.value.stored != .none }
            expect(showsStored, "\(id) has failed, and its subscribers wait for nothing")
        }
        for (id, parse) in parses {
            expect(live.contains { $0.value.parse == id }, "parse \(id) is kept without subscribers")
            expect(downloads[parse.download] != nil, "parse \(id) is kept without its download")
        }
        checkNothingIdles()
    }

    /// All loads and parses that may start have started, and no visible one waits for a speculative one.
    private mutating func checkNothingIdles() {
        let waitingParses = parses.filter { isWaiting($0.value) }
        if waitingParses.isEmpty {
            let isDue = parses.contains { $0.value.hasPreviewDue && !isOver($0.value) }
            expect(!isDue || takenSlots == limits.parses, "a preview might start")
        } else {
            expect(takenSlots == limits.parses, "a parse might start")
            let stopped = min(waitingParses.count, runningPreviews.count)
            expect(stoppedPreviews.count >= stopped, "a preview does not make way")
        }
        // As long as many bodies wait to be parsed, nothing starts that is no more urgent.
        let floor = waitingParses.map { rank(priority(ofParse: $0.key), $0.value.sequence) }.max()
        let isHeldUp = waitingParses.count >= limits.waitingParses
        func mayBegin(_ download: Download) -> Bool {
            guard isHeldUp, let floor else { return true }
            return floor.priority < rank(download.priority, download.sequence).priority
        }
        let isFull = !machine.networkHasRoom
        for (id, waiting) in downloads
        where waiting.stage == .waitingForNetwork && waiting.isVisible && mayBegin(waiting) {
            let isBlocked = loading(on: waiting.host) >= limits.network.perHost
            expect(isFull || isBlocked, "\(id) waits though it may start")
            let inTheWay = downloads.first {
                $0.value.stage == .loading && !$0.value.isVisible && (!isBlocked || $0.value.host == waiting.host)
            }
            expect(inTheWay == nil, "\(id) waits for something speculative")
        }
        let waitsForLookUp = downloads.contains { $0.value.stage == .waitingToLookUp && mayBegin($0.value) }
        if waitsForLookUp { expect(count(.lookingUp) == limits.lookups, "a lookup might start") }
        let speculative = downloads.first {
            $0.value.stage == .waitingForNetwork && $0.value.hasSubscribers && mayBegin($0.value)
        }
        if let speculative, count(.loading) == 0, !isFull {
            expect(false, "\(speculative.key) waits while nothing loads")
        }
    }

    /// The parse slots that are taken.
    var takenSlots: Int { runningParses.count + runningStored.count + runningPreviews.count }

    private func count(_ stage: Stage) -> Int { downloads.count { $0.value.stage == stage } }

    private func loading(on host: String) -> Int {
        downloads.count { $0.value.stage == .loading && $0.value.host == host }
    }

    private func hasVisible(besides id: RecordID) -> Bool {
        downloads.contains {
            $0.key != id && $0.value.isVisible && ![.arrived, .failed, .backingOff].contains($0.value.stage)
        }
    }

    private func priority(ofParse id: RecordID) -> LoadPriority? {
        var highest: LoadPriority?
        for (_, subscriber) in live where subscriber.parse == id {
            highest = max(highest ?? subscriber.priority, subscriber.priority)
        }
        return highest
    }
}
