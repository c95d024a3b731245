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

    /// Calls what is the main actor's, where ``isCurrent`` has told that the main actor runs: `assumeIsolated` would find
    /// out once more, which takes a fifth of the time of a hit in memory.
    static func call<Value>(_ completion: @escaping @MainActor (Value) -> Void, with value: Value) {
        // An isolated function differs from an ordinary one in its type alone; `assumeIsolated` does the same.
        unsafeBitCast(completion, to: ((Value) -> Void).self)(value)
    }

    static var isCurrent: Bool {
        DispatchQueue.getSpecific(key: mark) == true
    }
}
