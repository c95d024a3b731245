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

    fileprivate struct State {
        var begin: [Key: @Sendable () -> Void] = [:]
        /// Those of them that have not begun, the oldest first.
        var waiting: [Key] = []
        var listeners: [Key: [Ended]] = [:]
        var running: Set<Key> = []
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int = 4) {
        self.limit = limit
    }

    /// Adds a validation, unless there is one; it begins by calling `begin`, and whoever that is reports `hasEnded`.
    /// With a listener it begins at once, for that one has a turn on the network of its own.
    func add(_ key: Key, listener: Ended?, begin: @escaping @Sendable () -> Void) {
        let isNext = state.withLock { state -> Bool in
            if let listener { state.listeners[key, default: []].append(listener) }
            guard !state.running.contains(key) else { return false }
            state.begin[key] = state.begin[key] ?? begin
            if !state.waiting.contains(key) { state.waiting.append(key) }
            return listener != nil
        }
        startWhatMay(first: isNext ? key : nil)
    }

    func hasEnded(_ key: Key, _ result: Result<Fetched, SynchronizerError>) {
        let listeners = state.withLock { state in
            state.running.remove(key)
            return state.listeners.removeValue(forKey: key) ?? []
        }
        listeners.forEach { $0(result) }
        startWhatMay()
    }

    private func startWhatMay(first: Key? = nil) {
        if let first { take(first)?() }
        while let begin = takeNext() { begin() }
    }

    private func take(_ key: Key) -> (@Sendable () -> Void)? {
        state.withLock { $0.take(key) }
    }

    private func takeNext() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.running.count < limit, let key = state.waiting.first else { return nil }
            return state.take(key)
        }
    }
}

extension BackgroundRefreshes.State {
    fileprivate mutating func take(_ key: BackgroundRefreshes.Key) -> (@Sendable () -> Void)? {
        guard let begin = begin.removeValue(forKey: key) else { return nil }
        waiting.removeAll { $0 == key }
        running.insert(key)
        return begin
    }
}
