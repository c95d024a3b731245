import Foundation
import SynchronizerSupport

/// What a process knows of the copies in its local level: which of them are as the server has them.
///
/// The server announces all changes. While the process is told of them, a URL whose entries were copied is answered locally
/// until a change of it is announced. When a lost connection is back, nothing counts as copied: a change may have been
/// missed. Pure: the shell holds the lock, and passes the time.
package struct Coherence: Sendable {
    /// A lookup of a URL at the server. A change of the URL before its end makes it useless.
    package struct Lookup: Sendable {
        fileprivate let url: UInt64
        fileprivate let changes: Int
        fileprivate let sweeps: Int
    }

    private struct InFlight {
        var lookups = 0
        var changes = 0
    }

    /// What is known of the last removal of a URL.
    private struct Removal {
        /// Empty if the server knows of none.
        let token: String
        /// Since when this is known. A response that was requested before may be older than the removal.
        let since: Date
    }

    /// What is known of a URL.
    private struct Known {
        var removal: Removal?
        /// How many entries were copied.
        var count = 0
        /// The number of sweeps when they were; -1 if they were not.
        var copiedAt = -1
    }

    /// What the store of a response must tell the server of removals.
    package enum Fence: Hashable, Sendable {
        /// The response was requested before a removal that is known now.
        case refused
        /// The server stores it if the last removal has this token; empty for none. nil if this process does not know the last
        /// removal: only the local level may store it.
        case expecting(String?)
    }

    /// A process remembers so many URLs. It forgets the least recently used ones, and asks the server about them again.
    package static let mostURLs = 200_000
    /// Beyond so many removals that the server does not know yet, everything is removed.
    package static let mostPending = 10_000

    /// Whether the server announces changes now.
    package private(set) var isTold = false
    /// When the server began to announce them; nil if it never has.
    private var toldSince: Date?
    package var hasBeenTold: Bool { toldSince != nil }
    private var urls = LRUList<UInt64, Known>()
    private var inFlight: [UInt64: InFlight] = [:]
    /// How often all copies became useless.
    private var sweeps = 0
    /// Since when the latest of the forgotten removals was known.
    private var forgottenSince = Date.distantPast
    private var sweptAt = Date.distantPast
    package private(set) var generation: String?
    package private(set) var pending = UnsentRemovals()

    package init() {}

    // MARK: - Lookups

    /// The number of entries that the local level has of the URL, if it answers without the server. It does not if the last
    /// removal is not known: the next response could not be shared.
    package mutating func localCount(_ url: UInt64) -> Int? {
        guard isTold else { return nil }
        let sweeps = sweeps
        return urls.use(url) { $0.copiedAt == sweeps && $0.removal != nil }?.count
    }

    /// Whether the local level may answer while the server cannot: unless an announced or missed change may concern the URL.
    package func answersAlone(_ url: UInt64) -> Bool {
        toldSince == nil || urls[url]?.copiedAt == sweeps
    }

    package mutating func begin(_ url: UInt64) -> Lookup {
        inFlight[url, default: InFlight()].lookups += 1
        return Lookup(url: url, changes: inFlight[url]?.changes ?? 0, sweeps: sweeps)
    }

    package func isCurrent(_ lookup: Lookup) -> Bool {
        sweeps == lookup.sweeps && inFlight[lookup.url]?.changes == lookup.changes
    }

    package mutating func end(_ lookup: Lookup) {
        guard let flight = inFlight[lookup.url] else { return }
        if flight.lookups == 1 { inFlight[lookup.url] = nil } else { inFlight[lookup.url]?.lookups -= 1 }
    }

    /// The local level has all entries of the URL now: `count` of them.
    package mutating func didCopy(_ url: UInt64, count: Int) {
        let sweeps = sweeps
        remember(url) { known in (known.count, known.copiedAt) = (count, sweeps) }
    }

    // MARK: - Changes

    /// Entries of the URL have changed, here or elsewhere.
    package mutating func noteChange(_ url: UInt64) {
        inFlight[url]?.changes += 1
        forget(url)
    }

    /// Entries of the URL may have changed elsewhere.
    package mutating func forget(_ url: UInt64) {
        if urls[url] != nil { remember(url) { $0.copiedAt = -1 } }
    }

    /// Another process has removed all entries of the URL.
    package mutating func noteRemoval(_ url: UInt64, token: String, at now: Date) {
        noteChange(url)
        remember(url) { $0.removal = Removal(token: token, since: now) }
    }

    /// This process has removed all entries of the URL. It knows itself which responses it may still store.
    package mutating func noteOwnRemoval(_ url: UInt64, token: String) {
        noteChange(url)
        let since = urls[url]?.removal?.since ?? toldSince ?? .distantPast
        remember(url) { $0.removal = Removal(token: token, since: since) }
    }

    /// Everything was removed.
    ///
    /// - Parameter now: nil if this process did it.
    package mutating func noteSweep(generation: String?, at now: Date?) {
        self.generation = generation
        sweeps += 1
        urls = LRUList()
        if let now { sweptAt = now }
    }

    /// A lookup has found what the server knows of the last removal.
    package mutating func noteToken(_ token: String, of url: UInt64, at now: Date) {
        if urls[url]?.removal?.token == token {
            urls.markUsed(url)
        } else {
            remember(url) { $0.removal = Removal(token: token, since: now) }
        }
    }

    private mutating func remember(_ url: UInt64, _ change: (inout Known) -> Void) {
        var known = urls[url] ?? Known()
        change(&known)
        urls.insert(known, for: url)
        guard urls.count > Self.mostURLs, let oldest = urls.leastRecentlyUsed else { return }
        if let removal = urls.remove(oldest)?.removal, !removal.token.isEmpty {
            forgottenSince = max(forgottenSince, removal.since)
        }
    }

    /// What the store of a response says to the server, or whether it must not be stored at all.
    package func fence(_ url: UInt64, requested: Date) -> Fence {
        guard requested >= max(sweptAt, forgottenSince) else { return .refused }
        if let removal = urls[url]?.removal { return requested < removal.since ? .refused : .expecting(removal.token) }
        // No lookup of the URL has reached the server.
        return knowsRemovals(since: requested) ? .expecting(nil) : .refused
    }

    /// Whether this process can't have missed a removal since that time.
    package func knowsRemovals(since time: Date) -> Bool { toldSince.map { time >= $0 } ?? true }

    /// The first generation that the server has named.
    package mutating func adopt(_ generation: String) { self.generation = generation }

    // MARK: - The connection

    /// The server announces changes from now on. It may have announced others before.
    package mutating func connected(at now: Date) {
        isTold = true
        toldSince = now
        sweeps += 1
    }

    package mutating func disconnected() { isTold = false }

    // MARK: - Removals that the server does not know yet

    package mutating func addPending(_ url: String, token: String) {
        pending.add(url, token: token)
    }

    package mutating func addPendingSweep(_ generation: String) { pending.sweep = generation }

    package mutating func didDeliver(_ url: String, token: String) { pending.remove(url, token: token) }

    package mutating func didDeliverSweep(_ generation: String) {
        guard pending.sweep == generation else { return }
        pending.sweep = nil
        self.generation = generation
    }
}

/// Removals that the server does not know yet. Until it does, its entries of these URLs are not used.
package struct UnsentRemovals: Sendable {
    /// The tokens of the removals, by URL.
    package private(set) var tokens: [String: String] = [:]
    /// The generation that a removal of everything begins.
    package var sweep: String?

    package var isEmpty: Bool { tokens.isEmpty && sweep == nil }

    package func contains(_ url: String) -> Bool { sweep != nil || tokens[url] != nil }

    mutating func add(_ url: String, token: String) {
        tokens[url] = token
        if tokens.count > Coherence.mostPending {
            tokens = [:]
            sweep = sweep ?? token
        }
    }

    mutating func remove(_ url: String, token: String) {
        if tokens[url] == token { tokens[url] = nil }
    }
}
