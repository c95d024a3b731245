/// Decides when to ping a silent server, and when to give it up. Times are seconds of any clock that does not go back.
package struct SilenceWatch: Sendable {
    package enum Step: Hashable, Sendable {
        case wait
        case ask
        case giveUp
    }

    /// Seconds of silence before the server is asked, and again before it is given up.
    package static let patience = 1.0

    /// When the last bytes arrived, or the server was asked.
    private var since: Double
    package private(set) var isAsked = false

    package init(at now: Double) { since = now }

    package mutating func noteBytes(at now: Double) { (since, isAsked) = (now, false) }

    /// Seconds until the next step is due.
    package func left(at now: Double) -> Double { max(0, since + Self.patience - now) }

    /// The next step if no bytes have arrived.
    package mutating func step(at now: Double) -> Step {
        guard left(at: now) <= 0 else { return .wait }
        guard !isAsked else { return .giveUp }
        (since, isAsked) = (now, true)
        return .ask
    }
}
