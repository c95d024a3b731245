/// Decides whether to try a server that has failed. Times are seconds of any clock that does not go back.
package struct CircuitBreaker: Sendable {
    private enum State {
        case closed(failures: Int)
        /// Refuses calls until that time. Then one call may try.
        case open(until: Double, pause: Double)
        /// One call tries, until that time at the latest.
        case probing(until: Double, pause: Double)
    }

    /// The failures in a row after which calls are refused.
    package static let tolerance = 3
    private static let firstPause = 0.1
    private static let longestPause = 5.0
    /// Seconds after which another call may probe, if the result of the last probe is not known.
    private static let probeLimit = 1.0

    private var state = State.closed(failures: 0)
    /// Seconds between two lines in the log, so that a server that fails now and then does not fill it.
    private static let logInterval = 60.0
    /// Whether the outage has been logged.
    private var isLogged = false
    private var lastLog = -Double.infinity

    package init() {}

    package var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Whether a call may use the server now. After a pause one call may, as a probe.
    package mutating func allows(at now: Double) -> Bool {
        switch state {
        case .closed: return true
        case .open(let until, let pause), .probing(let until, let pause):
            guard now >= until else { return false }
            state = .probing(until: now + Self.probeLimit, pause: pause)
            return true
        }
    }

    package mutating func succeed() {
        state = .closed(failures: 0)
        isLogged = false
    }

    /// Notes that the server has answered, though not to a call. The next call may try at once.
    package mutating func noteAnswer(at now: Double) {
        if !isClosed { state = .open(until: now, pause: Self.firstPause) }
    }

    /// Returns whether to log: once for each outage, and at most once a minute.
    package mutating func fail(at now: Double) -> Bool {
        switch state {
        case .closed(let failures) where failures + 1 < Self.tolerance:
            state = .closed(failures: failures + 1)
            return false
        case .closed: state = .open(until: now + Self.firstPause, pause: Self.firstPause)
        case .open: return false
        case .probing(_, let pause):
            let next = min(2 * pause, Self.longestPause)
            state = .open(until: now + next, pause: next)
        }
        guard !isLogged, now - lastLog >= Self.logInterval else { return false }
        (isLogged, lastLog) = (true, now)
        return true
    }
}
