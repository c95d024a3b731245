import Foundation

/// Decides whether failed loads are retried, and when: the policy, and a budget for each origin. A pure value.
struct RetryDecisions: Sendable {
    let policy: RetryPolicy
    private var budget = RetryBudget()

    init(_ policy: RetryPolicy) {
        self.policy = policy
    }

    /// The seconds to wait before the next attempt; nil if there is none.
    /// - Parameter jitter: a random number from 0 to 1.
    mutating func delay(
        after failure: RetryPolicy.Failure, of origin: String, at now: Date, jitter: Double
    ) -> TimeInterval? {
        guard let delay = policy.delay(after: failure, at: now, jitter: jitter), budget.take(for: origin, at: now)
        else { return nil }
        return delay
    }

    mutating func succeeded(at origin: String, now: Date) { budget.succeeded(at: origin, now: now) }
}

/// The number of retries that each origin has left, at most ten: a retry takes one, a success returns a tenth, and each minute
/// returns one.
///
/// Remembers the last thousand origins that failed.
struct RetryBudget: Sendable {
    private struct Balance: Sendable {
        let retries: Double
        let at: Date
    }

    private static let full = 10.0
    private static let secondsForOne = 60.0
    private static let maximumOrigins = 1_000
    /// The balances of the origins with less than a full budget.
    private var balances = LRUList<String, Balance>()

    mutating func take(for origin: String, at now: Date) -> Bool {
        let left = retries(of: origin, at: now)
        guard left >= 1 else { return false }
        keep(left - 1, of: origin, at: now)
        return true
    }

    mutating func succeeded(at origin: String, now: Date) {
        guard balances.count > 0, balances[origin] != nil else { return }
        keep(retries(of: origin, at: now) + 0.1, of: origin, at: now)
    }

    private func retries(of origin: String, at now: Date) -> Double {
        guard let balance = balances[origin] else { return Self.full }
        return min(Self.full, balance.retries + max(0, now.timeIntervalSince(balance.at)) / Self.secondsForOne)
    }

    private mutating func keep(_ retries: Double, of origin: String, at now: Date) {
        guard retries < Self.full else {
            balances.remove(origin)
            return
        }
        balances.insert(Balance(retries: retries, at: now), for: origin)
        if balances.count > Self.maximumOrigins, let oldest = balances.leastRecentlyUsed { balances.remove(oldest) }
    }
}
