import Foundation
import HTTPCaching

/// How long the server keeps an entry.
package enum SharedLifetime {
    /// The longest time, in seconds.
    package static let longest: TimeInterval = 30 * 86_400

    /// Milliseconds from now for which the response may be of use, at least a second.
    ///
    /// - Parameter staleRetention: seconds to keep a stale response that may be served when its server cannot be reached, or
    ///   be validated.
    package static func milliseconds(
        of response: StoredResponse, at now: Date, staleRetention: TimeInterval
    ) -> Int {
        let rules = CacheRules(staleWhileRevalidate: 0, staleIfError: 0, staleIfUnreachable: staleRetention)
        let seconds = rules.usefulPeriod(of: response, at: now)
        return Int(1000 * min(max(1, seconds.isNaN ? 1 : seconds), longest))
    }
}
