import Foundation
import HTTPCaching

/// The background validations of responses that were used stale (RFC 5861 §3): one for each entry, and few at a time, since
/// no subscriber waits for them. They continue after the loads that caused them.
final class BackgroundRefreshes: Sendable {
    /// Called with nil if the result is not for the listener. The listener then looks its request up again. Either the validation
    /// sent another request, whose response may be for another user, or another process has the lease and validates the entry.
    typealias Ended = @Sendable (Result<Fetched, SynchronizerError>?) -> Void

    /// Loads with different options are not coalesced: the result depends on them.
    struct Key: Hashable, Sendable {
        let entry: CacheEntry.ID
        let maximumBodySize: Int
        var file: FileTarget?
        var cacheTime: TimeInterval?
    }

    fileprivate struct Listener {
        let request: CacheRequest
        let ended: Ended
    }

    fileprivate struct Queued: Sendable {
        let request: CacheRequest
        let begin: @Sendable () -> Void
    }

    fileprivate struct State {
        /// The validations that have not begun. If there are very many, the oldest are dropped; the next use of their entry
        /// adds them again.
        var waiting = LRUList<Key, Queued>()
        var listeners: [Key: [Listener]] = [:]
        /// The requests that the running validations send.
        var running: [Key: CacheRequest] = [:]
        /// Whether a thread starts queued validations.
        var isStarting = false
        var moment = 0
        /// The moments at which the latest validations succeeded. No two are equal.
        var ended = LRUList<Key, Int>()
    }

    private static let waitingLimit = 1_000
    fileprivate static let endedLimit = 1_000
    private let limit: Int
    private let state = Locked(State())

    init(limit: Int = 4) {
        self.limit = limit
    }

    /// A number that grows with each successful validation. A fetch notes it before it looks an entry up. If the entry is validated
    /// after that moment, it must be looked up again.
    var moment: Int { state.withLock { $0.moment } }

    /// Queues a validation unless the entry has one, or has been validated since it was looked up; ``startNext()`` starts it
    /// when there is room. `begin` must lead to ``end(_:with:)``.
    func queue(_ key: Key, for request: CacheRequest, since lookup: Int, begin: @escaping @Sendable () -> Void) {
        let dropped = state.withLock { state -> Queued? in
            guard state.running[key] == nil, state.waiting[key] == nil, !state.hasEnded(key, since: lookup) else {
                return nil
            }
            state.waiting.insert(Queued(request: request, begin: begin), for: key)
            let oldest = state.waiting.count > Self.waitingLimit ? state.waiting.leastRecentlyUsed : nil
            return oldest.flatMap { state.waiting.remove($0) }
        }
        withExtendedLifetime(dropped) {}
    }

    /// Starts a validation at once, or coalesces with the running one: the listener's load has a network slot for it.
    /// - Returns: False, without effect, if the entry has been validated since it was looked up.
    func start(
        _ key: Key, for request: CacheRequest, since lookup: Int, listener: @escaping Ended,
        begin: @escaping @Sendable () -> Void
    ) -> Bool {
        let (isCurrent, begins, queued) = state.withLock { state -> (Bool, Bool, Queued?) in
            let isRunning = state.running[key] != nil
            guard isRunning || !state.hasEnded(key, since: lookup) else { return (false, false, nil) }
            state.listeners[key, default: []].append(Listener(request: request, ended: listener))
            if isRunning { return (true, false, nil) }
            state.running[key] = request
            return (true, true, state.waiting.remove(key))
        }
        // Drops the queued validation: it would not validate if another process has the lease.
        withExtendedLifetime(queued) {}
        if begins { begin() }
        return isCurrent
    }

    func end(_ key: Key, with result: Result<Fetched, SynchronizerError>?) {
        let (request, listeners) = state.withLock { state in
            if case .success = result { state.noteEnd(of: key) }
            return (state.running.removeValue(forKey: key), state.listeners.removeValue(forKey: key) ?? [])
        }
        for listener in listeners { listener.ended(listener.request == request ? result : nil) }
        startNext()
    }

    /// Starts queued validations while there is room. If a validation ends before `begin` returns, it does not start the next one:
    /// the loop does.
    func startNext() {
        let isFirst = state.withLock { state in
            defer { state.isStarting = true }
            return !state.isStarting
        }
        if isFirst { while let begin = takeNext() { begin() } }
    }

    /// The validation that has waited longest.
    private func takeNext() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.running.count < limit, let key = state.waiting.leastRecentlyUsed,
                let queued = state.waiting.remove(key)
            else {
                state.isStarting = false
                return nil
            }
            state.running[key] = queued.request
            return queued.begin
        }
    }
}

extension BackgroundRefreshes.State {
    fileprivate func hasEnded(_ key: BackgroundRefreshes.Key, since lookup: Int) -> Bool {
        ended[key].map { $0 > lookup } ?? false
    }

    fileprivate mutating func noteEnd(of key: BackgroundRefreshes.Key) {
        moment += 1
        ended.insert(moment, for: key)
        guard ended.count > BackgroundRefreshes.endedLimit, let oldest = ended.leastRecentlyUsed else { return }
        _ = ended.remove(oldest)
    }
}
