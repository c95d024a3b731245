import Foundation

/// What is to be removed from the store, and cannot be at once, because nobody may wait for the disk: until it has been
/// removed, nothing is found under its keys.
final class PendingRemovals: Sendable {
    private let keys = Locked<Set<String>>([])

    func add(_ added: [String]) {
        keys.withLock { $0.formUnion(added) }
    }

    func contains(_ key: String) -> Bool {
        keys.withLock { !$0.isEmpty && $0.contains(key) }
    }

    func end(_ key: String) {
        keys.withLock { _ = $0.remove(key) }
    }
}
