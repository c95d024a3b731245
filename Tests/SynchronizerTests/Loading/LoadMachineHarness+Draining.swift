@testable import Synchronizer

extension LoadMachineHarness {
    /// Ends all downloads and parses, until none is left.
    mutating func drain() {
        for id in downloads.keys where downloads[id]?.stage == .backingOff { backOffEnded(id) }
        while pause != nil { pauseEnded() }
        for id in parses.keys where parses[id]?.stored == .beingRead { storedEnded(id) }
        endParses()  // those that wait may hold others up
        while let id = downloads.first(where: { $0.value.stage == .lookingUp || $0.value.stage == .loading })?.key {
            fetchEnded(id, succeeded: true)
            endParses()
        }
        endParses()
        for id in downloads.keys {
            for token in downloads[id]?.graceTokens ?? [] { graceEnded(id, token: token) }
        }
        let (unanswered, left, leftParses) = (live.keys, downloads.keys, parses.keys)
        expect(unanswered.isEmpty, "never answered: \(unanswered)")
        expect(left.isEmpty && leftParses.isEmpty, "left behind: \(left), parses \(leftParses)")
        expect(machine.isIdle, "the machine is not idle at the end")
    }

    private mutating func endParses() {
        while true {
            if let parse = runningParses.first {
                parseEnded(parse)
            } else if let parse = runningStored.first {
                storedEnded(parse)
            } else if let parse = runningPreviews.first {
                previewEnded(parse)
            } else {
                return
            }
        }
    }
}
