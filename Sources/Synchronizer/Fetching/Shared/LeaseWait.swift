import Foundation

/// How long a load has waited for other processes, and how its last wait ended. Each wait ends a fetch, so the load passes this on
/// to its next fetch.
package struct LeaseWait: Hashable, Sendable {
    /// A small type, because very many loads may wait.
    private var seconds: Float = 0
    /// How the last wait ended; nil if there was none.
    package var end: LeaseEnd?

    package init() {}

    /// Seconds waited so far.
    package var total: TimeInterval {
        get { TimeInterval(seconds) }
        set { seconds = Float(newValue) }
    }
}

/// What a fetch does when the store has answered its request for a lease. Pure.
package enum LeaseDecision: Hashable, Sendable {
    /// Send the request, with the lease or without one.
    case send(Lease?)
    /// Look up again, with the lease: another process may have stored the response.
    case lookUp(Lease)
    /// Wait for the holder, at most for these seconds.
    case wait(TimeInterval)

    package init(_ answer: LeaseAnswer, after wait: LeaseWait, limits: RequestLeases) {
        switch answer {
        case .granted(let lease): self = lease.followsAnother ? .lookUp(lease) : .send(lease)
        case .unavailable: self = .send(nil)
        case .held:
            let left = limits.maximumWait - wait.total
            self = left > 0 ? .wait(left) : .send(nil)
        }
    }
}

extension LeaseWait {
    /// Whether to ask for a lease. If the holder has released the lease, and its response does not answer, all waiting loads send
    /// their requests at once: one after the other, they would take as long as all their requests together.
    package func asks(limits: RequestLeases) -> Bool { end != .released && total < limits.maximumWait }
}
