import Foundation

/// A resource of which something can be shown while its bytes arrive.
package protocol ProgressiveResource: Resource {
    /// What makes previews of one body.
    func makePreviewer() -> any Previewer<ParsedObject>
}

/// Makes previews of one body, on one thread at a time, though not always the same.
///
/// It remembers what it has decoded, so that all previews together cost about one decode more than the final one.
/// When the body is complete, or its load is cancelled, it is dropped: the object is then parsed as ever.
package protocol Previewer<Object>: AnyObject {
    associatedtype Object: Sendable

    /// What can be shown of the bytes so far; nil if that is nothing, or nothing new. `body` begins with the first byte
    /// of the body each time. It asks `ParseCancellation`, and gives nil when it is cancelled.
    func preview(of body: Data) -> Object?
}

/// When to make previews while bytes arrive: at most so many a second, one at a time, always of the newest bytes.
///
/// A value that decides; whoever uses it performs, and reports back.
package struct PreviewPacer: Sendable {
    package enum Action: Hashable, Sendable {
        case nothing
        /// Make a preview of all bytes so far, and report ``previewed(at:)``.
        case preview
        /// Report ``woken(at:)`` after so many seconds.
        case wake(after: Double)
    }

    private enum State: Sendable {
        case idle
        case waiting
        case previewing(hasNewer: Bool)
    }

    private let interval: Double
    private var state = State.idle
    private var lastStart: Double?

    /// - Parameter interval: The seconds from the start of one preview to that of the next, at least.
    package init(interval: Double) {
        self.interval = interval
    }

    /// More bytes have arrived. Times are in seconds, of any clock that does not go back.
    package mutating func received(at now: Double) -> Action {
        switch state {
        case .idle: return begin(now)
        case .waiting: return .nothing
        case .previewing:
            state = .previewing(hasNewer: true)
            return .nothing
        }
    }

    /// The preview that was asked for has been made, or could not be.
    package mutating func previewed(at now: Double) -> Action {
        guard case .previewing(let hasNewer) = state else { return .nothing }
        state = .idle
        return hasNewer ? begin(now) : .nothing
    }

    package mutating func woken(at now: Double) -> Action {
        guard case .waiting = state else { return .nothing }
        state = .idle
        return begin(now)
    }

    private mutating func begin(_ now: Double) -> Action {
        if let lastStart, now < lastStart + interval {
            state = .waiting
            return .wake(after: lastStart + interval - now)
        }
        lastStart = now
        state = .previewing(hasNewer: false)
        return .preview
    }
}
