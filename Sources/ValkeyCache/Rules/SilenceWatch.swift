/// Decides when to ask a server that is silent whether it is still there. Times are seconds of any clock that does not go back.
package struct SilenceWatch: Sendable {
    package enum Step: Hashable, Sendable {
        case wait
        case ask
        case giveUp
    }

    /// Seconds of silence before it is asked, and then before it counts as gone.
    package static let patience = 1.0

    /// When the last bytes came, or the server was asked.
    private var since: Double
    package private(set) var isAsked = false

    package init(at now: Double) { since = now }

    package mutating func noteBytes(at now: Double) { (since, isAsked) = (now, false) }

    /// Seconds until there is something to do.
    package func left(at now: Double) -> Double { max(0, since + Self.patience - now) }

    /// What to do if no bytes have come.
    package mutating func step(at now: Double) -> Step {
        guard left(at: now) <= 0 else { return .wait }
        guard !isAsked else { return .giveUp }
        (since, isAsked) = (now, true)
        return .ask
    }
}
