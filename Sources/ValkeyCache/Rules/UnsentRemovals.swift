/// Removals that have not been sent to the server. Until they are, the server's entries of these URLs are not used.
package struct UnsentRemovals: Sendable {
    /// The most removals that may wait. If there are more, everything is removed instead.
    package static let maximumCount = 10_000

    /// The tokens of the removals, by URL.
    package private(set) var tokens: [String: String] = [:]
    /// The new generation that a removal of everything begins; nil if no such removal is pending.
    package var sweep: String?

    package var isEmpty: Bool { tokens.isEmpty && sweep == nil }

    package func contains(_ url: String) -> Bool { sweep != nil || tokens[url] != nil }

    mutating func add(_ url: String, token: String) {
        tokens[url] = token
        if tokens.count > Self.maximumCount {
            tokens = [:]
            sweep = sweep ?? token
        }
    }

    mutating func remove(_ url: String, token: String) {
        if tokens[url] == token { tokens[url] = nil }
    }
}
