import Foundation
import SynchronizerSupport

// Leases: of all processes that need a response, one asks the network. `LeaseFile` has the leases.
extension ResponseCache {
    /// Grants no lease where the others would not find what is stored under it.
    func lease(_ key: UInt64, for duration: TimeInterval) -> LeaseFile.Answer {
        let isShared = state.withLock { $0.diskCapacity > 0 && !$0.storesFail && !$0.disk.hasFailed }
        guard isShared, !ForkedProcess.isCurrent else { return .unavailable }
        let answer = leases.grant(
            key, at: time.now.milliseconds, for: Int64(min(max(0, duration), 3600) * 1000))
        if case .granted(let grant) = answer, grant.followsAnother { distrustMemory() }
        return answer
    }

    /// Releases a lease once the database has what was stored under it.
    func release(_ grant: LeaseFile.Grant) {
        guard !ForkedProcess.isCurrent else { return }
        let release: @Sendable () -> Void = { [leases, time] in leases.release(grant, at: time.now.milliseconds) }
        if state.withLock({ $0.log.isEmpty }) { release() } else { writer.write(from: self, then: release) }
    }

    /// Gives a lease back as if its holder had died.
    func abandon(_ grant: LeaseFile.Grant) {
        if !ForkedProcess.isCurrent { leases.abandon(grant) }
    }

    /// Whether what is stored under the lease counts. The transaction that writes it asks again.
    func fence(_ grant: LeaseFile.Grant) -> @Sendable () -> Bool {
        { [leases] in leases.isCurrent(grant) }
    }

    /// Calls the handler once the lease is not held any more, and says whether it was released. Returns what cancels that.
    func watchLease(
        _ key: UInt64, atMost limit: TimeInterval, then handler: @escaping @Sendable (_ isReleased: Bool) -> Void
    ) -> @Sendable () -> Void {
        let watch = LeaseWatch(key, in: leases, time: time, limit: limit) { [weak self] isReleased in
            self?.distrustMemory()
            handler(isReleased)
        }
        watch.begin()
        return { watch.cancel() }
    }

    /// Lets the next lookup ask the database whether another process has changed it.
    private func distrustMemory() {
        state.withLock { $0.verifiedAt = .distantPast }
    }
}

/// Watches the lease of another fetch, without a thread: it looks at the slot at intervals that grow with the time that has
/// passed. A look takes about a microsecond.
private final class LeaseWatch: Sendable {
    private struct State {
        var handler: (@Sendable (Bool) -> Void)?
        var stopTimer: @Sendable () -> Void = {}

        /// A timer keeps its action, and so the watch: the watch must not keep a timer that is over.
        mutating func takeTimer() -> @Sendable () -> Void {
            defer { stopTimer = {} }
            return stopTimer
        }
    }

    /// Seconds between two looks.
    private static let intervals: ClosedRange<TimeInterval> = 0.001...0.025
    private let key: UInt64
    private let leases: LeaseFile
    private let time: any TimeSource
    private let start: Date
    private let limit: TimeInterval
    /// The token of the holder that the watch is about.
    private let token: UInt64?
    private let state: Locked<State>

    init(
        _ key: UInt64, in leases: LeaseFile, time: any TimeSource, limit: TimeInterval,
        handler: @escaping @Sendable (Bool) -> Void
    ) {
        (self.key, self.leases, self.time, self.limit) = (key, leases, time, limit)
        start = time.now
        let (record, isHeld) = leases.look(at: key, now: start.milliseconds)
        token = isHeld ? record.token : nil
        state = Locked(State(handler: handler))
    }

    func begin() { schedule(after: Self.intervals.lowerBound) }

    func cancel() {
        let stop = state.withLock { state in
            state.handler = nil
            return state.takeTimer()
        }
        stop()
    }

    /// Under the lock, so that the timer is noted before it fires.
    private func schedule(after delay: TimeInterval) {
        state.withLock { state in
            guard state.handler != nil else { return }
            state.stopTimer = time.schedule(after: delay) { [self] in look() }
        }
    }

    private func look() {
        _ = state.withLock { $0.takeTimer() }
        let now = time.now
        let elapsed = abs(now.timeIntervalSince(start))
        let (record, isHeld) = leases.look(at: key, now: now.milliseconds)
        if isHeld, record.token == token, elapsed < limit {
            let interval = min(max(elapsed / 4, Self.intervals.lowerBound), Self.intervals.upperBound)
            return schedule(after: min(interval, max(0.001, limit - elapsed)))
        }
        let isReleased = record.key == key && record.token == token && record.expires <= 0
        state.withLock { $0.handler.take() }?(isReleased)
    }
}
