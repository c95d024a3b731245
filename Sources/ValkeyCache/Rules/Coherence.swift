import Foundation
import SynchronizerSupport

/// Tracks which copies in the local level of a process are the same as the server's entries.
///
/// The server announces all changes except one: it does not announce that the only entry of a URL was replaced after it had
/// expired. While the server announces changes, the local level answers for each URL whose entries it has copied, until a change
/// of the URL is announced, or all its entries have expired. When a lost connection is back, no copy counts, because the process
/// may have missed a change. Pure: the caller holds the lock, and passes the time.
package struct Coherence: Sendable {
    /// A lookup of a URL at the server. If the URL changes before the lookup ends, its result must not be used.
    package struct Lookup: Sendable {
        fileprivate let url: UInt64
        fileprivate let changes: Int
        fileprivate let sweeps: Int
    }

    private struct InFlight {
        var lookups = 0
        var changes = 0
    }

    /// The last removal of a URL.
    private struct Removal {
        /// Empty if the server knows of no removal.
        let token: String
        /// When the process learned of the removal. A response that was requested earlier may be older than the removal.
        let since: Date
    }

    /// The state of a URL.
    private struct Known {
        /// The last removal; nil if the process does not know it.
        var removal: Removal?
        /// The number of copied entries.
        var count = 0
        /// The last entry that this process has stored and whose body the server does not get; nil for none.
        var ownEntry: Int64?
        /// The value of `sweeps` when the entries were copied; nil if they were not copied.
        var copiedAt: Int?
        /// When the last of the entries expires.
        var expires = Date.distantPast
    }

    /// The condition under which a response may be stored, so that no response outlives a removal.
    package enum StoreCondition: Hashable, Sendable {
        /// The response must not be stored: it was requested before the process learned of a removal.
        case refused
        /// The server stores the response if the last removal has this token (empty for no removal). nil if this process does not
        /// know the last removal; then only the local level may store the response.
        case expecting(String?)
    }

    /// The most URLs that a process remembers. It forgets the least recently used ones, and asks the server about them again.
    package static let maximumURLs = 200_000

    /// The connection over which the server announces changes.
    private enum Connection {
        case never
        /// The server announces changes since that time.
        case connected(since: Date)
        /// The server had announced changes since that time.
        case lost(since: Date)
    }

    private var connection = Connection.never
    /// Whether the server announces changes now.
    package var isConnected: Bool { if case .connected = connection { true } else { false } }
    /// Whether the server has ever announced changes.
    package var hasConnected: Bool { connectedSince != nil }

    /// When the server last began to announce changes; nil if it never has.
    private var connectedSince: Date? {
        switch connection {
        case .never: nil
        case .connected(let since), .lost(let since): since
        }
    }

    private var urls = LRUList<UInt64, Known>()
    private var inFlight: [UInt64: InFlight] = [:]
    /// How often all copies became invalid at once.
    private var sweeps = 0
    /// The latest `since` of the removals that were forgotten with their URLs.
    private var forgottenSince = Date.distantPast
    private var sweptAt = Date.distantPast
    package private(set) var generation: String?
    package private(set) var pending = UnsentRemovals()

    package init() {}

    // MARK: - Lookups

    /// The number of entries that the local level has of the URL; nil if the server has to be asked. The server is also asked if
    /// the last removal is not known, because otherwise the next response could not be shared.
    package mutating func localCount(_ url: UInt64, at now: Date) -> Int? {
        use(url) { $0.expires > now }
    }

    /// The same number, even if all entries have expired.
    package mutating func copyCount(_ url: UInt64) -> Int? { use(url) { _ in true } }

    private mutating func use(_ url: UInt64, if mayAnswer: (Known) -> Bool) -> Int? {
        guard isConnected else { return nil }
        let sweeps = sweeps
        return urls.use(url) { known -> Int? in
            known.copiedAt == sweeps && known.removal != nil && mayAnswer(known) ? known.count : nil
        }
    }

    /// Whether the local level has all entries of the URL, and the removal with that token is the last one.
    package func hasCopies(_ url: UInt64, since token: String) -> Bool {
        isConnected && urls[url]?.copiedAt == sweeps && urls[url]?.removal?.token == token
    }

    /// Whether the local level may answer while the server cannot. It may not if an announced or missed change may concern the URL.
    package func answersAlone(_ url: UInt64) -> Bool {
        !hasConnected || urls[url]?.copiedAt == sweeps
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

    /// Notes that the local level has all entries of the URL now: `count` of them.
    ///
    /// - Parameter expires: when the last of the entries expires.
    package mutating func didCopy(_ url: UInt64, count: Int, until expires: Date) {
        let sweeps = sweeps
        remember(url) { known in (known.count, known.copiedAt, known.expires) = (count, sweeps, expires) }
    }

    // MARK: - Changes

    /// Notes that entries of the URL have changed, in this process or in another one.
    package mutating func noteChange(_ url: UInt64) {
        inFlight[url]?.changes += 1
        forget(url)
    }

    /// Notes that another process may have changed entries of the URL.
    package mutating func forget(_ url: UInt64) {
        if urls[url] != nil { remember(url) { $0.copiedAt = nil } }
    }

    /// Notes that another process has removed all entries of the URL.
    package mutating func noteRemoval(_ url: UInt64, token: String, at now: Date) {
        noteChange(url)
        remember(url) { $0.removal = Removal(token: token, since: now) }
    }

    /// Notes that this process has removed all entries of the URL. Such a removal refuses no responses here, because the callers in
    /// this process know which responses they may still store.
    package mutating func noteOwnRemoval(_ url: UInt64, token: String) {
        noteChange(url)
        let since = urls[url]?.removal?.since ?? connectedSince ?? .distantPast
        remember(url) { $0.removal = Removal(token: token, since: since) }
    }

    /// Notes that everything was removed.
    ///
    /// - Parameter now: nil if this process has removed everything.
    package mutating func noteSweep(generation: String?, at now: Date?) {
        self.generation = generation
        sweeps += 1
        urls = LRUList()
        if let now { sweptAt = now }
    }

    /// Notes the token of the last removal, which a lookup has read from the server.
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
        guard urls.count > Self.maximumURLs, let oldest = urls.leastRecentlyUsed else { return }
        if let removal = urls.remove(oldest)?.removal, !removal.token.isEmpty {
            forgottenSince = max(forgottenSince, removal.since)
        }
    }

    /// The condition under which a response that was requested at that time may be stored. A removal in the future does not count:
    /// the clock was set back since, and all responses would be refused until that time.
    ///
    /// - Parameter now: read while the caller holds the lock. Otherwise another thread could have noted a later time.
    package func storeCondition(_ url: UInt64, requested: Date, at now: Date) -> StoreCondition {
        let isBefore = { (removed: Date) in requested < removed && removed <= now }
        guard !isBefore(sweptAt), !isBefore(forgottenSince) else { return .refused }
        if let removal = urls[url]?.removal { return isBefore(removal.since) ? .refused : .expecting(removal.token) }
        // No lookup of the URL has reached the server.
        return knowsRemovals(since: requested, at: now) ? .expecting(nil) : .refused
    }

    /// Whether this process can't have missed an announcement of a removal since that time. True if the server has never announced
    /// anything: then the process has only its own entries.
    package func knowsRemovals(since time: Date, at now: Date) -> Bool {
        connectedSince.map { time >= $0 || $0 > now } ?? true
    }

    /// Notes that this process has stored an entry whose body the server does not get.
    package mutating func noteOwnEntry(_ id: Int64, of url: UInt64) {
        remember(url) { $0.ownEntry = id }
    }

    /// The entries of this machine that stay although another machine has replaced them.
    package struct OwnEntries: Sendable {
        /// No removal of them has been missed if they were requested since then.
        package let since: Date
        /// The last one that this process has stored.
        package let last: Int64?

        package init(since: Date = .distantFuture, last: Int64? = nil) { (self.since, self.last) = (since, last) }
    }

    /// - Parameter token: the token of the last removal, which the server has reported.
    package func ownEntries(_ url: UInt64, since token: String) -> OwnEntries {
        guard case .connected(let since) = connection, let known = urls[url], known.removal?.token == token else {
            return OwnEntries()
        }
        return OwnEntries(since: since, last: known.ownEntry)
    }

    /// Adopts the first generation that the server has reported.
    package mutating func adopt(_ generation: String) { self.generation = generation }

    // MARK: - The connection

    /// Notes that the server announces changes from now on. This process may have missed earlier announcements.
    package mutating func connected(at now: Date) {
        connection = .connected(since: now)
        sweeps += 1
    }

    package mutating func disconnected() {
        if case .connected(let since) = connection { connection = .lost(since: since) }
    }

    // MARK: - Removals that the server does not know yet

    package mutating func addPending(_ url: String, token: String) {
        pending.add(url, token: token)
    }

    package mutating func addPendingSweep(_ generation: String) { pending.sweep = generation }

    /// Changes the token of a removal that was sent in vain. The server may have executed it, and then another removal. If the same
    /// token came back, a response from between the two removals could be stored.
    package mutating func renewPending(_ url: String, token: String, to new: String) {
        guard pending.tokens[url] == token else { return }
        pending.renew(url, to: new)
        let key = URLDigest.key(url)
        guard let removal = urls[key]?.removal, removal.token == token else { return }
        remember(key) { $0.removal = Removal(token: new, since: removal.since) }
    }

    /// Changes the generation that a removal of everything begins, for the same reason: an earlier generation must not come back.
    package mutating func renewPendingSweep(_ generation: String, to new: String) {
        if pending.sweep == generation { pending.sweep = new }
    }

    package mutating func didDeliver(_ url: String, token: String) { pending.remove(url, token: token) }

    package mutating func didDeliverSweep(_ generation: String) {
        guard pending.sweep == generation else { return }
        pending.sweep = nil
        self.generation = generation
    }
}
