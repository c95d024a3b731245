import Foundation

/// Whether fetches may use the network: ``Synchronizer/isOffline``.
package final class NetworkSwitch: Sendable {
    private struct State {
        var isOffline = false
        var listeners: [@Sendable () -> Void] = []
        var watchers: [Int: AsyncStream<Bool>.Continuation] = [:]
        var lastWatcher = 0
    }

    private let state = Locked(State())

    package init() {}

    package var isOffline: Bool { state.withLock { $0.isOffline } }

    package func set(isOffline: Bool) {
        let listeners = state.withLock { state -> [@Sendable () -> Void] in
            guard state.isOffline != isOffline else { return [] }
            state.isOffline = isOffline
            state.watchers.values.forEach { $0.yield(isOffline) }  // under the lock, so that values keep their order
            return isOffline ? state.listeners : []
        }
        listeners.forEach { $0() }
    }

    /// Calls the closure each time that the network is switched off, after ``isOffline`` has become true.
    package func whenOffline(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    /// The current value, and its changes. A slow consumer gets only the latest value.
    package var updates: AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state in
                continuation.yield(state.isOffline)
                state.lastWatcher += 1
                state.watchers[state.lastWatcher] = continuation
                return state.lastWatcher
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.watchers[id] = nil }
            }
        }
    }

    deinit {
        state.withLock { $0.watchers }.values.forEach { $0.finish() }
    }
}
