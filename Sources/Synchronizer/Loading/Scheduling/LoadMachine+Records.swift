// The records of the machine: small, because there may be very many.
extension LoadMachine {
    /// How far a download is.
    enum Stage: Hashable, Sendable {
        case waitingToLookUp
        case lookingUp
        case waitingForNetwork(RecordID)
        case loading(RecordID)
        case arrived
        /// Failed for good; its remaining parses show the stored response first.
        case failed
        /// Failed; will be retried after a delay.
        case backingOff

        /// Whether there will be no other fetch.
        var isOver: Bool { self == .arrived || self == .failed }

        /// Whether a fetch is in flight.
        var isFetching: Bool {
            switch self {
            case .lookingUp, .loading: true
            case .waitingToLookUp, .waitingForNetwork, .arrived, .failed, .backingOff: false
            }
        }

        /// Whether a download at this stage is kept for its grace period.
        var mayLinger: Bool {
            switch self {
            case .lookingUp, .waitingForNetwork, .loading: true
            case .waitingToLookUp, .arrived, .failed, .backingOff: false
            }
        }
    }

    /// Why a download is kept.
    enum Interest: Hashable, Sendable {
        case subscribed
        /// All subscribers have cancelled. A running fetch continues, but the download gets no network slot.
        case gracePeriod(token: UInt32)
    }

    struct Download: Sendable {
        let key: RequestKey?
        /// Grows with each subscription: newer downloads come first.
        var sequence: Int64
        var parses = RecordList()
        var priorities = PriorityCounts()
        var stage = Stage.waitingToLookUp
        var interest = Interest.subscribed
        /// Whether its request may be sent twice. If not, the download keeps its network slot.
        let mayRestart: Bool

        init(key: RequestKey?, sequence: Int64, mayRestart: Bool) {
            self.key = key
            self.sequence = sequence
            self.mayRestart = mayRestart
        }

        /// Whether it has a visible subscriber, and is neither over nor backs off.
        var isVisible: Bool {
            !stage.isOver && stage != .backingOff && priorities.highest?.isVisible ?? false
        }

        /// The host in whose queue it waits.
        var queuedOn: RecordID? {
            if case .waitingForNetwork(let host) = stage, interest == .subscribed { host } else { nil }
        }
    }

    /// How far a parse is. If a subscriber wants the stored response, that is parsed before the body of the download.
    enum ParseStage: Sendable {
        /// Waits for the body, or for a slot.
        case waiting
        case readingStored
        /// The stored response waits for a slot.
        case storedWaiting
        case parsingStored
        case parsing
        /// Runs, though all subscribers have cancelled.
        case abandoned

        var isRunning: Bool { self == .parsing || self == .abandoned }

        var isOfStored: Bool { self == .readingStored || self == .storedWaiting || self == .parsingStored }
    }

    struct Parse: Sendable, RecordLinked {
        var key: ParseKey?
        let download: DownloadID
        var sequence: Int64
        /// Whether it needs no slot, because it takes less time than managing slots.
        let isQuick: Bool
        var stage = ParseStage.waiting
        var subscribers = RecordList()
        var priorities = PriorityCounts()
        /// Its neighbours among the parses of its download.
        var links = RecordLinks()

        init(key: ParseKey?, download: DownloadID, sequence: Int64, isQuick: Bool) {
            self.key = key
            self.download = download
            self.sequence = sequence
            self.isQuick = isQuick
        }
    }

    struct Subscriber: Sendable, RecordLinked {
        let parse: ParseID
        var priority: LoadPriority
        /// Its neighbours among the subscribers of its parse.
        var links = RecordLinks()

        init(parse: ParseID, priority: LoadPriority) {
            self.parse = parse
            self.priority = priority
        }
    }
}
