import Foundation

/// The keys whose entries are about to be removed. The caller must not wait for the disk, so lookups miss these keys until
/// the entries are gone.
final class PendingRemovals: Sendable {
    private struct State {
        /// The number of the last removal of each key.
        var last: [String: Int] = [:]
        var count = 0
    }

    private let state = Locked(State())

    func add(_ keys: [String]) {
        state.withLock { state in
            state.count += 1
            for key in keys { state.last[key] = state.count }
        }
    }

    func contains(_ key: String) -> Bool { last(of: key) != nil }

    /// The number of the last pending removal of a key; nil if none is pending.
    func last(of key: String) -> Int? { state.withLock { $0.last.isEmpty ? nil : $0.last[key] } }

    /// The entries were removed after the removal with this number had been added. A removal that was added since stays pending.
    func end(_ key: String, upTo number: Int) {
        state.withLock { state in
            if state.last[key] == number { state.last[key] = nil }
        }
    }
}
