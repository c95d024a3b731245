import Foundation

// What the loader keeps of each load besides what the machine does: small, because there may be very many.
extension Loader {
    struct Download: Sendable {
        let job: LoadJob
        let startedAt: Date
        var waitingSince: Date
        var queueWait: TimeInterval = 0
        /// Its fetch, once it has looked into the cache. None while it waits for the network and nothing was stored:
        /// then there is nothing to keep, and the fetch is made anew when its turn comes.
        var handle: FetchHandle?
        var result: Result<Boxed<Fetched>, SynchronizerError>?
        var progress = LoadProgress(received: 0)
        var attempts: UInt32 = 1
        /// Those who look at the progress, or at previews; some may have left.
        var watchers: [LoadReceiver.ID] = []
        /// Whether somebody wants what is stored while the network is asked.
        var wantsStored = false
        /// Whether what it brings was made invalid meanwhile: its subscribers get it, and nobody after them.
        var isInvalidated = false
        /// Whether the observer has heard how it ended, for somebody at least.
        var isEndReported = false

        init(_ job: LoadJob, at now: Date) {
            self.job = job
            startedAt = now
            waitingSince = now
        }
    }

    struct Parse: Sendable {
        let job: LoadJob
        let download: Machine.DownloadID
        /// What tells the parse to stop; made when one begins that takes its time.
        var cancellation: ParseFlag?
        var previews: PreviewRun?
        var stored = StoredPhase.unwanted
        var isPrefetched = false
    }

    /// How far the report of what is stored has come, for those who want it while the network is asked.
    enum StoredPhase: Sendable {
        case unwanted, wanted, beingRead
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
        var downloads = SlotTable<Download>()
        var parses = SlotTable<Parse>()
        var receivers = SlotTable<LoadReceiver>()
        var receiverIDs = SlotIDs()
        var retries = RetryBudget()
        var deadlines: Deadlines
        let isObserved: Bool
        /// How the parse has ended that this `update` tells the machine of.
        var ended: (parse: Machine.ParseID, outcome: Outcome)?
        /// The download whose fetch is not worth keeping, unless it goes on in this `update`.
        var blank: Machine.DownloadID?
        /// What the observer is to hear of, before the effects are performed.
        var observations: [Observation] = []
        /// What the next `update` performs besides the machine's actions.
        var extraEffects: [Effect] = []
        /// What the next `update` lets go of once the lock is released: a caller's own values may do anything at their
        /// end.
        var dropped: [any AnyObject & Sendable] = []
        /// Whether some thread is telling the observer.
        var isObserving = false
    }
}

extension Loader.State {
    /// Keeps a receiver under a name of its own until it answers, or leaves.
    mutating func add(_ receiver: LoadReceiver) -> LoadReceiver.ID {
        let id = receiverIDs.take()
        receivers[id] = receiver
        return id
    }

    /// Takes the receiver out, if it has neither answered nor left.
    mutating func take(_ id: LoadReceiver.ID) -> LoadReceiver? {
        guard let receiver = receivers.remove(id) else { return nil }
        receiverIDs.giveBack(id)
        return receiver
    }

    mutating func drop(_ job: LoadJob) {
        if dropped.last !== job { dropped.append(job) }
    }

    mutating func drop(_ download: Loader.Download) {
        drop(download.job)
        if case .success(let fetched)? = download.result { dropped.append(fetched) }
    }

    mutating func drop(_ parse: Loader.Parse) {
        drop(parse.job)
        if let previews = parse.previews { dropped.append(previews) }
        switch parse.stored {
        case .read(let fetched): dropped.append(fetched)
        case .reported(let shown): dropped.append(shown)
        case .unwanted, .wanted, .beingRead: break
        }
    }

    func receivers(of parse: Loader.Machine.ParseID) -> [LoadReceiver] {
        machine.subscribers(of: parse).compactMap { receivers[$0] }
    }
}

/// Tells a parse under way that nobody waits for it any more.
final class ParseFlag: Sendable {
    private let flag = Locked(false)

    var isCancelled: Bool { flag.withLock { $0 } }

    func cancel() { flag.withLock { $0 = true } }
}
