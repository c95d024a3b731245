import Foundation

// Waits for other processes, and the time limits of loads.
extension Loader.State {
    /// The fetch waits for another process, and gives its slot back.
    mutating func waitsForLease(_ id: DownloadID, at now: Date) {
        downloads.update(id) { $0.begin(.forLease, at: now) }
        machine.backOff(id)
        note(.waitingForAnotherProcess, of: id)
    }

    /// The wait is over: the load starts again with a lookup.
    mutating func waited(_ id: DownloadID, end: LeaseEnd, at now: Date) {
        guard downloads[id] != nil else { return }
        downloads.update(id) {
            $0.begin(.forSlot, at: now)
            $0.waited.end = end
            $0.handle = nil
        }
        machine.backOffEnded(id)
    }

    /// Fails the loads that have reached their deadline, and cancels their fetches.
    mutating func failOverdue(at now: Date) {
        for id in deadlines.due(at: now) {
            guard let download = downloads[id] else { continue }
            guard download.result == nil else {
                machine.fail(id)  // it may have failed already, and wait for the stored response
                continue
            }
            downloads.update(id) { $0.result = .failure(Boxed($0.reachTimeLimit(at: now))) }
            machine.fail(id)
        }
        deadlines.forget(besides: downloads.count) { downloads[$0] == nil }
        if let delay = deadlines.nextAlarm(at: now) { extraActions.append(.alarm(after: delay)) }
    }
}

extension Loader.LoadRecord {
    /// Ends the wait, and returns the error of a load that has reached its time limit.
    mutating func reachTimeLimit(at now: Date) -> SynchronizerError {
        let error = SynchronizerError.reachedTimeLimit(whileWaitingFor: wait.description)
        endWait(at: now)
        return error.asking(for: job.request.url, tracing: complete)
    }
}

extension Loader.LoadRecord.Wait {
    /// What is awaited, as errors say it.
    fileprivate var description: String? {
        switch self {
        case .none: nil
        case .forSlot: "a slot or a retry"
        case .forLease: "another process"
        }
    }
}

extension SynchronizerError {
    /// The error of a load that has reached its time limit, without its URL.
    static func reachedTimeLimit(whileWaitingFor awaited: String?) -> SynchronizerError {
        var trace = LoadTrace()
        trace.reason = "the load reached its time limit"
        if let awaited { trace.reason += " while it waited for \(awaited)" }
        return .transport(URLError(.timedOut, because: trace.reason), Context(url: nil, trace: trace))
    }
}
