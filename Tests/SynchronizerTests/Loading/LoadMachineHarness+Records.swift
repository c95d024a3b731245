@testable import Synchronizer

// The account of the harness: what it knows of each download, parse and subscriber.
extension LoadMachineHarness {
    struct Download {
        let request: Int?
        let host: String
        var stage = Stage.waitingToLookUp
        var sequence: Int64
        /// Whether it takes no more subscribers.
        var isClosed = false
        var graceTokens: [UInt32] = []
        /// The priorities of its subscribers, in no order: the highest counts.
        var priorities: [LoadPriority] = []

        var priority: LoadPriority? { priorities.max() }
        var isVisible: Bool { priority?.isVisible ?? false }
        var hasSubscribers: Bool { !priorities.isEmpty }
    }

    enum Stage { case waitingToLookUp, lookingUp, waitingForNetwork, loading, arrived, failed, backingOff }

    struct Parse {
        let download: RecordID
        var sequence: Int64
        var isRunning = false
        var stored = StoredPhase.none
        var hasPreviewDue = false
    }

    /// The state of the parse of the stored response, which comes before the parse of the server's response.
    enum StoredPhase { case none, beingRead, waiting, running }

    struct Subscriber {
        let download: RecordID
        let parse: RecordID
        var priority: LoadPriority
    }
}

extension LoadMachineHarness.Download {
    mutating func replace(_ old: LoadPriority, by new: LoadPriority?) {
        if let index = priorities.firstIndex(of: old) { priorities.remove(at: index) }
        if let new { priorities.append(new) }
    }
}
