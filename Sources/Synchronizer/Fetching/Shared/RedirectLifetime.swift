import Foundation
import HTTPCaching

/// What the redirects of a load allow of its object in memory: it answers without the redirects.
struct RedirectLifetime: Hashable, Sendable {
    /// The earliest time at which one of the redirects expires.
    private(set) var freshUntil = Date.distantFuture
    /// See ``Fetched/isForThisLoadOnly``.
    private(set) var isForThisLoadOnly = false

    /// Adds a redirect. If it says nothing about its reuse, as most do, the object lives as long as the last response.
    ///
    /// - Parameters:
    ///   - freshUntil: when the redirect expires by the rules.
    ///   - isBound: whether the redirect is bound to what the session adds.
    mutating func add(_ redirect: HTTPFields, freshUntil: Date, isBound: Bool) {
        if CacheRules.saysLifetime(redirect) { self.freshUntil = min(self.freshUntil, freshUntil) }
        if isBound { isForThisLoadOnly = true }
    }
}

extension Fetched {
    /// Restricts what memory may do with the object.
    mutating func limit(by redirects: RedirectLifetime) {
        freshUntil = min(freshUntil, redirects.freshUntil)
        if redirects.isForThisLoadOnly { isForThisLoadOnly = true }
    }
}
