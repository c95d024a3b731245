/// Removals that have not been sent to the server. Until they are, the server's entries of these URLs are not used.
package struct UnsentRemovals: Sendable {
    /// The most removals that may wait. If there are more, everything is removed instead.
    package static let maximumCount = 10_000

    /// The tokens of the removals, by URL.
    package private(set) var tokens = Backlog<String, String>()
    /// The new generation that a removal of everything begins; nil if no such removal is pending.
    package var sweep: String?

    package var isEmpty: Bool { tokens.isEmpty && sweep == nil }

    package func contains(_ url: String) -> Bool { sweep != nil || tokens[url] != nil }

    mutating func add(_ url: String, token: String) {
        tokens.add(token, for: url)
        if tokens.count > Self.maximumCount {
            tokens = Backlog()
            sweep = sweep ?? token
        }
    }

    /// Notes that a removal has failed, and the token for the next attempt.
    mutating func renew(_ url: String, to token: String) { tokens.noteFailure(of: url, retryingAs: token) }

    mutating func remove(_ url: String, token: String) {
        if tokens[url] == token { tokens.remove(url) }
    }
}
