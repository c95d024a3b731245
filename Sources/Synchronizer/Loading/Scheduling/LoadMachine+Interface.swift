// What goes into the machine, and what comes out.
extension LoadMachine {
    struct Limits: Hashable, Sendable {
        var lookups: Int
        var network: NetworkQueue.Limits
        var parses: Int
        /// How many bodies may wait to be parsed before only loads of a higher priority begin.
        var waitingParses: Int { max(2, parses) }
    }

    /// What the shell has to do, in this order.
    enum Action: Hashable, Sendable {
        /// Begin the fetch: it looks into the cache.
        case lookUp(DownloadID)
        /// Let the fetch use the network.
        case proceed(DownloadID)
        /// Cancel the fetch; the download stays and will be looked up again.
        case restart(DownloadID)
        /// Forget the download: cancel its fetch if it is under way, and drop its body.
        case release(DownloadID)
        /// Report `graceEnded` with this token after the moment of grace.
        case beginGrace(DownloadID, token: Int)
        /// Report `pauseEnded` with this token after `WasteBudget.pause`.
        case beginPause(token: Int)
        /// Parse the body, and report `parseEnded`.
        case parse(ParseID)
        /// Parse what is stored, and report `storedEnded`.
        case parseStored(ParseID)
        /// Make a preview of what has arrived, and report `previewEnded`.
        case preview(ParseID)
        /// Ask a preview under way to stop, because a parse waits for its turn; it still reports `previewEnded`.
        case stopPreview(ParseID)
        /// Ask a parse under way to stop; it still reports `parseEnded`.
        case abandon(ParseID)
        /// Give the outcome of the parse, or of its download if that failed, to these; and forget the parse.
        case deliver(ParseID, to: [SubscriberID])
    }

    /// What a subscriber joined: the ids are new where `isNew…` says so.
    struct Place: Hashable, Sendable {
        let parse: ParseID
        let isNewParse: Bool
        let download: DownloadID
        let isNewDownload: Bool
    }
}
