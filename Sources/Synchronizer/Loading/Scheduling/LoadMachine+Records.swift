// What the machine keeps of each load: small, because there may be very many.
extension LoadMachine {
    enum Stage: Hashable, Sendable {
        case waitingToLookUp, lookingUp, waitingForNetwork, loading, arrived
        /// Would wait for the network if somebody waited for it: kept for its grace.
        case parked
        /// Has failed, and will be tried again after a while.
        case resting

        /// Whether it is worth going on for a moment when everybody has left.
        var mayLinger: Bool {
            switch self {
            case .lookingUp, .waitingForNetwork, .loading, .parked: true
            case .waitingToLookUp, .arrived, .resting: false
            }
        }
    }

    struct Download: Sendable {
        let key: RequestKey?
        var turn: Int64
        /// A token, while it has no subscriber and is kept for its grace.
        var grace: Int?
        /// Known once it has needed the network.
        var host: SlotID?
        var stage = Stage.waitingToLookUp
        var parses = SlotList()
        var priorities = PriorityCounts()

        init(key: RequestKey?, turn: Int64) {
            self.key = key
            self.turn = turn
        }

        /// Whether it is one for which somebody waits, and on its way.
        var isVisible: Bool { Facts(of: self).isVisible }
    }

    /// How far the parse of what is stored is, which comes before that of the answer.
    enum StoredPhase: Sendable { case none, beingRead, waiting, running }

    struct Parse: Sendable, SlotLinked {
        var key: ParseKey?
        let download: DownloadID
        var turn: Int64
        /// Whether it needs no turn, because it takes less time than handing out turns.
        let isQuick: Bool
        var isRunning = false
        var stored = StoredPhase.none
        /// Whether nobody waits for it any more, though it runs.
        var isAbandoned = false
        var subscribers = SlotList()
        var priorities = PriorityCounts()
        /// Among the parses of its download.
        var links = SlotLinks()

        init(key: ParseKey?, download: DownloadID, turn: Int64, isQuick: Bool) {
            self.key = key
            self.download = download
            self.turn = turn
            self.isQuick = isQuick
        }
    }

    struct Subscriber: Sendable, SlotLinked {
        let parse: ParseID
        var priority: LoadPriority
        /// Among the subscribers of its parse.
        var links = SlotLinks()

        init(parse: ParseID, priority: LoadPriority) {
            self.parse = parse
            self.priority = priority
        }
    }

    /// What the queues have to know of a download.
    struct Facts {
        let stage: Stage
        let host: SlotID?
        let priority: LoadPriority?
        let turn: Int64

        init(of download: Download) {
            stage = download.stage
            host = download.host
            priority = download.priorities.highest
            turn = download.turn
        }

        var isVisible: Bool {
            stage != .arrived && stage != .resting && priority?.isVisible ?? false
        }
    }
}

extension LoadMachine.Download {
    /// Changes it; what it was before, and what it is now.
    mutating func changed(by body: (inout Self) -> Void) -> (old: LoadMachine.Facts, new: LoadMachine.Facts) {
        let old = LoadMachine.Facts(of: self)
        body(&self)
        if stage == .parked, grace == nil { stage = .waitingForNetwork }
        return (old, LoadMachine.Facts(of: self))
    }
}
