import Foundation

/// Tells whether the code at hand runs on the main actor: on the main queue, to which the main thread belongs from the
/// start. (`Thread.isMainThread` does not tell: once an asynchronous `main` has begun on Linux, the main queue is served
/// by other threads.)
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool {
        DispatchQueue.getSpecific(key: mark) == true
    }
}
