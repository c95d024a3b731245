// What the machine decides.
extension LoadMachine {
    /// What the shell must do, by ID. The shell performs the actions in this order, as `Loader.PreparedAction`.
    enum Action: Hashable, Sendable {
        /// Start the fetch, which looks into the cache.
        case lookUp(DownloadID)
        /// Let the fetch use the network.
        case proceed(DownloadID)
        /// Cancel the fetch; the download stays and will be looked up again.
        case restart(DownloadID)
        /// Forget the download: cancel its fetch if it is in flight, and drop its body.
        case release(DownloadID)
        /// Report `gracePeriodEnded` with this token after the grace period.
        case beginGracePeriod(DownloadID, token: UInt32)
        /// Report `pauseEnded` with this token after `CancellationThrottle.pause`.
        case beginPause(token: Int)
        /// Parse the body, and report `parseEnded`.
        case parse(ParseID)
        /// Parse the stored response, and report `storedEnded`.
        case parseStored(ParseID)
        /// Make a preview of the bytes so far, and report `previewEnded`.
        case preview(ParseID)
        /// Ask a running preview to stop, because a parse waits for its slot; it still reports `previewEnded`.
        case stopPreview(ParseID)
        /// Ask a running parse to stop; it still reports `parseEnded`.
        case abandon(ParseID)
        /// Deliver the result of the parse, or of its failed download, to these subscribers; and forget the parse.
        case deliver(ParseID, to: Few<SubscriberID>)
    }
}
