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
    private var log = OutageLog()

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
        log.end()
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
        return log.note(at: now)
    }
}

/// Decides whether to log an outage: once for each, and at most once a minute, so that a server that fails now and then does not
/// fill the log. Times are seconds of any clock that does not go back.
package struct OutageLog: Sendable {
    private static let interval = 60.0
    private var isLogged = false
    private var last = -Double.infinity

    package init() {}

    /// Notes a failure; returns whether to log it.
    package mutating func note(at now: Double) -> Bool {
        guard !isLogged, now - last >= Self.interval else { return false }
        (isLogged, last) = (true, now)
        return true
    }

    package mutating func end() { isLogged = false }
}
