/// Decides when to make previews while bytes arrive: one at a time, with a minimum interval, always of the newest bytes. A pure
/// value: its owner performs the actions, and reports back.
package struct PreviewPacer: Sendable {
    package enum Action: Hashable, Sendable {
        case nothing
        /// Make a preview of all bytes so far, and report ``previewed(at:)``.
        case preview
        /// Report ``woken(at:)`` after this many seconds.
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

    /// - Parameter interval: the minimum seconds from the start of one preview to that of the next.
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

    /// The preview has been made, or could not be made.
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
