import Foundation

/// Tells whether the code at hand runs on the main actor. On Linux, once an asynchronous `main` has begun, the main queue
/// is served by threads that are not the main thread.
enum MainQueue {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mark) == true
    }
}
