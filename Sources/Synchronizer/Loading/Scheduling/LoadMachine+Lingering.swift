// What happens to a download after its last subscriber has cancelled.
extension LoadMachine {
    /// Releases a download that no parse waits for, or keeps it for its grace period if another load may subscribe to it.
    mutating func releaseIfUnused(_ id: DownloadID) {
        guard let download = downloads[id], download.parses.isEmpty else { return }
        guard hasGracePeriod, download.stage.mayLinger, coalescedDownload(for: download.key) == id else {
            return release(id)
        }
        lastGraceToken &+= 1
        let token = lastGraceToken
        change(id) { $0.interest = .gracePeriod(token: token) }
        actions.append(.beginGracePeriod(id, token: token))
    }

    /// The grace period ended: releases the download unless it has a subscriber again.
    mutating func gracePeriodEnded(_ id: DownloadID, token: UInt32) {
        if downloads[id]?.interest == .gracePeriod(token: token) { release(id) }
    }
}
