import Foundation

/// The keys whose entries are about to be removed. The caller must not wait for the disk, so lookups miss these keys until
/// the entries are gone.
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
