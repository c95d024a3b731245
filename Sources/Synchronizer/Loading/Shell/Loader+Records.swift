import Foundation

// The shell's records: what it must know of a load besides what the machine keeps. Small, because there may be very many.
extension Loader {
    /// What the shell knows of a download of the machine. The small properties are last: each of them would take a whole word
    /// before a large one.
    struct LoadRecord: Sendable {
        let job: LoadJob
        let startedAt: Date
        /// When the current wait began, or the last one.
        private var waitingSince: Date
        private var queueWait: TimeInterval = 0
        /// The receivers of progress and previews; some may have cancelled.
        var watchers: [LoadReceiver.ID] = []
        var result: FetchResult?
        /// The fetch once its lookup has begun. Nil while the load waits for the network after a miss: such a fetch is dropped,
        /// and another one sends the request when the load gets its slot.
        var handle: FetchHandle?
        /// The waits for another process that requested the same response.
        var waited = LeaseWait()
        /// Whether it has begun a lookup.
        var hasLookedUp = false
        /// Whether a subscriber wants the stored response while the server is asked.
        var wantsStored = false
        /// Whether its response was invalidated: its subscribers get it, and later loads do not.
        var isInvalidated = false
        /// Whether the observer knows how it ended, for at least one subscriber.
        var isEndReported = false
        /// Whether its body no longer goes beside the destination of the load that began it.
        var ignoresDestination = false
        /// What it waits for now.
        private(set) var wait = Wait.forSlot
        var attempts: UInt32 = 1

        init(_ job: LoadJob, at now: Date) {
            self.job = job
            startedAt = now
            waitingSince = now
        }

        enum Wait: Sendable {
            /// Nothing: it is being fetched.
            case none
            /// A slot, or the pause before a retry.
            case forSlot
            case forLease
        }

        mutating func begin(_ wait: Wait, at now: Date) {
            endWait(at: now)
            (self.wait, waitingSince) = (wait, now)
        }

        mutating func endWait(at now: Date) {
            let seconds = max(0, now.timeIntervalSince(waitingSince))
            switch wait {
            case .none: break
            case .forSlot: queueWait += seconds
            case .forLease: waited.total += seconds
            }
            wait = .none
        }

        /// Adds the seconds that the load has waited.
        func complete(_ trace: inout LoadTrace) {
            (trace.queueWait, trace.leaseWait) = (queueWait, waited.total)
        }
    }

    /// How a download ended: a `Result` of one word.
    enum FetchResult: Sendable {
        case success(Boxed<Fetched>)
        case failure(Boxed<SynchronizerError>)
    }

    /// What the shell knows of a parse of the machine.
    struct ParseRecord: Sendable {
        let job: LoadJob
        let download: Machine.DownloadID
        /// Asks the parse to stop. Created when a parse begins that is not quick, or when the stored response is read.
        var cancellation: ParseFlag?
        var previews: PreviewRun?
        /// The parse of the body while it arrives.
        var stream: StreamRun?
        var stored = StoredCopy.unwanted
        /// The object, if it was stored next to the response, so that nothing needs to be parsed.
        var derived: Boxed<Derived>?
        var isPrefetched = false
    }

    /// The stored response, for subscribers that want it while the server is asked.
    enum StoredCopy: Sendable {
        case unwanted, wanted, reading
        case read(Boxed<Fetched>)
        case reported(Boxed<Shown>)

        struct Shown: Sendable {
            let object: LoadedObject
            let body: Data
        }
    }

    struct Observation {
        let load: Int
        let url: URL?
        let kind: SynchronizerEvent.Kind
    }

    struct State {
        var machine: Machine
        var downloads = RecordTable<LoadRecord>()
        var parses = RecordTable<ParseRecord>()
        var receivers = RecordTable<LoadReceiver>()
        var receiverIDs = RecordIDs()
        var retries: RetryDecisions
        var deadlines: Deadlines
        var authentications = Authentications<LoadReceiver.ID>()
        /// The number of fetches that have got a response.
        var endedFetches = 0
        /// How often everything was removed.
        var removals = 0
        let isObserved: Bool
        /// The parse that this `update` reports to the machine, and its result.
        var ended: (parse: Machine.ParseID, result: LoadResult)?
        /// The download whose lookup missed: its fetch is dropped unless it proceeds in this `update`.
        var lookupMissID: Machine.DownloadID?
        /// The events for the observer, reported before the actions are performed.
        var observations: [Observation] = []
        /// What this `update` has to perform besides the machine's actions.
        var extraActions: [PreparedAction] = []
        /// What this `update` releases after unlocking: the `deinit` of a caller's value may do anything.
        var dropped = Few<any AnyObject & Sendable>()
        /// Whether a thread is reporting to the observer.
        var isObserving = false
    }
}

extension Loader.State {
    /// Adds a receiver, until it gets its result or cancels.
    mutating func add(_ receiver: LoadReceiver) -> LoadReceiver.ID {
        let id = receiverIDs.take()
        receivers.insert(receiver, as: id)
        return id
    }

    /// Removes and returns the receiver, unless it has its result or has cancelled.
    mutating func take(_ id: LoadReceiver.ID) -> LoadReceiver? {
        guard let receiver = receivers.remove(id) else { return nil }
        receiverIDs.giveBack(id)
        return receiver
    }

    /// Adds a watcher. Those that have left are dropped each time that their number has doubled.
    mutating func watch(_ download: Loader.Machine.DownloadID, as id: LoadReceiver.ID) {
        downloads.update(download) { download in
            if download.watchers.count.nonzeroBitCount == 1 {
                download.watchers.removeAll { !receivers.contains($0) }
            }
            download.watchers.append(id)
        }
    }

    /// Whether everything was removed since there were this many removals; never without a number.
    func hasRemoved(since removals: Int?) -> Bool { removals.map { $0 != self.removals } ?? false }

    mutating func drop(_ job: LoadJob) {
        if dropped.last !== job { dropped.append(job) }
    }

    mutating func drop(_ download: Loader.LoadRecord) {
        drop(download.job)
        if case .success(let fetched)? = download.result { dropped.append(fetched) }
    }

    mutating func drop(_ parse: Loader.ParseRecord) {
        drop(parse.job)
        if let previews = parse.previews { dropped.append(previews) }
        if let stream = parse.stream { dropped.append(stream) }
        if let derived = parse.derived { dropped.append(derived) }
        switch parse.stored {
        case .read(let fetched): dropped.append(fetched)
        case .reported(let shown): dropped.append(shown)
        case .unwanted, .wanted, .reading: break
        }
    }

    /// The job of a download; nil if the response was invalidated, and says nothing about objects in memory.
    func validJob(of id: Loader.Machine.DownloadID) -> LoadJob? {
        downloads[id].flatMap { $0.isInvalidated ? nil : $0.job }
    }

    /// The job of a download's parse; nil if there are several parses.
    func onlyJob(of download: Loader.Machine.DownloadID) -> LoadJob? {
        let parses = machine.parses(of: download)
        return parses.only.flatMap { self.parses[$0]?.job }
    }

    /// Fetches again, without a destination, if the fetch has failed because of a destination that is not that of all its parses: the
    /// other ones must not fail with it. Returns whether it does.
    mutating func restart(_ id: Loader.Machine.DownloadID, after error: SynchronizerError, at now: Date) -> Bool {
        guard case .file = error, let job = downloads[id]?.job, let destination = job.options.file?.destination,
            onlyJob(of: id)?.options.file?.destination != destination,
            RetryPolicy.maySendAgain(job.request, isSafe: job.options.body != nil),
            downloads[id]?.ignoresDestination == false
        else { return false }
        downloads.update(id) { download in
            download.ignoresDestination = true
            download.begin(.forSlot, at: now)
        }
        note(.retrying(error, after: 0), of: id)
        machine.backOff(id)
        machine.backOffEnded(id)
        return true
    }

    func receivers(of parse: Loader.Machine.ParseID) -> [LoadReceiver] {
        machine.subscribers(of: parse).compactMap { receivers[$0] }
    }
}

/// Tells a running parse that all its subscribers have cancelled.
final class ParseFlag: Sendable {
    private let flag = Locked(false)

    var isCancelled: Bool { flag.withLock { $0 } }

    func cancel() { flag.withLock { $0 = true } }
}
