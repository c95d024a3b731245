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
            downloads.update(id) {
                let reason = $0.wait.reasonForTimeout
                $0.endWait(at: now)
                let error = SynchronizerError.timedOut(reason, trace: $0.completed(LoadTrace()), of: $0.job.request.url)
                $0.result = .failure(Boxed(error))
            }
            machine.fail(id)
        }
        deadlines.forget { downloads[$0] == nil }
        if let delay = deadlines.nextAlarm(at: now) { extraActions.append(.alarm(after: delay)) }
    }
}

extension Loader.LoadRecord.Wait {
    fileprivate var reasonForTimeout: String {
        let limit = "the load reached its time limit"
        return switch self {
        case .none: limit
        case .forSlot: limit + " while it waited for a slot or a retry"
        case .forLease: limit + " while it waited for another process"
        }
    }
}

extension SynchronizerError {
    /// A load has reached its time limit.
    static func timedOut(_ reason: String, trace: LoadTrace = LoadTrace(), of url: URL?) -> SynchronizerError {
        var trace = trace
        trace.reason = reason
        return .transport(URLError(.timedOut, because: reason), Context(url: url, trace: trace))
    }
}
