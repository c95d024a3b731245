import Foundation

/// The changes of a cookie storage that are going on, so that nobody waits for one of them who must not.
///
/// `HTTPCookieStorage` on Linux writes its file while it lets nobody read: whoever asks for a cookie waits for the disk.
/// Who asks while the session keeps the cookies of an answer is told so instead.
final class CookieChanges: Sendable {
    private let underWay = Locked(0)

    /// Makes a change, which may take long.
    func make(_ change: () -> Void) {
        underWay.withLock { $0 += 1 }
        change()
        underWay.withLock { $0 -= 1 }
    }

    /// Reads, unless a change is going on; then nil. None begins meanwhile: that is why the lock is held.
    func read<T>(_ cookies: () -> T) -> T? {
        underWay.withLock { $0 == 0 ? cookies() : nil }
    }

    private struct Known {
        weak var changes: CookieChanges?
    }

    private static let known = Locked<[ObjectIdentifier: Known]>([:])

    /// Those of a storage, which several sessions may share. They are to be kept for as long as the storage is.
    static func of(_ storage: HTTPCookieStorage) -> CookieChanges {
        known.withLock { known in
            if let changes = known[ObjectIdentifier(storage)]?.changes { return changes }
            let changes = CookieChanges()
            known = known.filter { $0.value.changes != nil }
            known[ObjectIdentifier(storage)] = Known(changes: changes)
            return changes
        }
    }
}
