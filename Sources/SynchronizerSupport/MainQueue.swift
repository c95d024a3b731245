import Foundation

/// Says whether a call comes from the main queue.
package enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the current code runs on the main queue, and so on the main actor. (`Thread.isMainThread` does not tell: on Linux,
    /// other threads run the main queue once an asynchronous `main` has begun.)
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }

    /// Whether this is the main thread or the main queue: no call there may wait for a disk, a server or a lock that is held for
    /// long.
    package static var mustNotBlock: Bool { Thread.isMainThread || isCurrent }
}
