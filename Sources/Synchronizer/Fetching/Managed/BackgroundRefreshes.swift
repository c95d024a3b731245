import Foundation

/// The validations that go on behind answers which are stale while they are revalidated (RFC 5861 §3): one for each
/// stored response, and few at a time, since nobody waits for them. They go on when those who asked have gone.
final class BackgroundRefreshes: Sendable {
    typealias Ended = @Sendable (Result<Fetched, SynchronizerError>) -> Void

    /// Those who accept bodies of different sizes do not share one: its outcome depends on that.
    struct Key: Hashable, Sendable {
        let entry: Int64
        let maximumBodySize: Int
    }

    private struct State {
        /// Those that have not begun, the newest first: of very many the oldest are let go of, and asked for anew with the
        /// next answer of theirs.
        var waiting = LRUList<Key, @Sendable () -> Void>()
        var listeners: [Key: [Ended]] = [:]
        var running: Set<Key> = []
    }

    private static let mostWaiting = 1_000
    private let limit: Int
    private let state = Locked(State())

    init(limit: Int = 4) {
        self.limit = limit
    }

    /// Adds a validation, unless there is one; it begins by calling `begin`, and whoever that is reports `hasEnded`.
    /// With a listener it begins at once, for that one has a turn on the network of its own.
    func add(_ key: Key, listener: Ended?, begin: @escaping @Sendable () -> Void) {
        let (next, dropped) = state.withLock { state -> ((@Sendable () -> Void)?, (@Sendable () -> Void)?) in
            if let listener { state.listeners[key, default: []].append(listener) }
            guard !state.running.contains(key) else { return (nil, nil) }
            if listener != nil {
                state.running.insert(key)
                return (state.waiting.remove(key) ?? begin, nil)
            }
            guard state.waiting[key] == nil else { return (nil, nil) }
            state.waiting.insert(begin, for: key)
            let oldest = state.waiting.count > Self.mostWaiting ? state.waiting.leastRecentlyUsed : nil
            return (nil, oldest.flatMap { state.waiting.remove($0) })
        }
        withExtendedLifetime(dropped) {}
        next?()
        startWhatMay()
    }

    func hasEnded(_ key: Key, _ result: Result<Fetched, SynchronizerError>) {
        let listeners = state.withLock { state in
            state.running.remove(key)
            return state.listeners.removeValue(forKey: key) ?? []
        }
        listeners.forEach { $0(result) }
        startWhatMay()
    }

    private func startWhatMay() {
        while let begin = takeNext() { begin() }
    }

    /// The one that has waited longest.
    private func takeNext() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.running.count < limit, let key = state.waiting.leastRecentlyUsed else { return nil }
            state.running.insert(key)
            return state.waiting.remove(key)
        }
    }
}
