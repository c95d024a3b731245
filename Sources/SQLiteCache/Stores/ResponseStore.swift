import Foundation
import HTTPCaching
import SynchronizerSupport

/// A store of responses, as the layer Fetching sees it.
///
/// Calls may block on the disk. They come on any background thread, several at once.
package protocol ResponseStore: Sendable {
    /// All entries of a URL (absolute, without fragment), newest first.
    func entries(for url: String) -> [StoredEntry]

    /// Passes the same entries to `body`, in the same order.
    func forEachEntry(of url: String, _ body: (StoredEntry) -> Void)

    /// The responses of a URL, for a caller that uses none of them, so that this counts neither as a use nor as a miss. If machines
    /// share the store, these are the responses that this machine has.
    func responses(of url: String) -> [StoredResponse]

    /// The body of an entry; nil if it is gone, or was corrupt and has been dropped.
    func body(of entry: StoredEntry) -> Data?

    /// Stores a response. It replaces the entry with the same URL, method and selecting fields.
    /// The body, the storage policy and the user info come from `cached`, everything else from `response`.
    ///
    /// Returns the identifier of the new entry; nil if the store refuses the response.
    @discardableResult
    func store(_ response: StoredResponse, as cached: CachedURLResponse) -> Int64?

    /// Why a body of this size would not be kept with this storage policy; nil if it would be.
    func refusal(toStore bytes: Int, policy: URLCache.StoragePolicy) -> StoreRefusal?

    /// Replaces everything but the body of an entry (RFC 9111 §4.3.4). It has no effect if the entry is gone. Returns false if
    /// the store refuses the response.
    @discardableResult
    func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool

    func remove(_ entry: StoredEntry)

    /// Removes all entries of a URL.
    func removeEntries(for url: String)

    func removeAll()

    /// The invalidations of this store. A caller that removes entries through this protocol must note the removal here first,
    /// because the methods do not note it.
    var invalidations: InvalidationLog { get }
}

extension ResponseStore {
    package func forEachEntry(of url: String, _ body: (StoredEntry) -> Void) { entries(for: url).forEach(body) }

    package func responses(of url: String) -> [StoredResponse] { entries(for: url).map(\.response) }

    package func refusal(toStore bytes: Int, policy: URLCache.StoragePolicy) -> StoreRefusal? { nil }
}

/// What another process has done, perhaps on another machine.
package enum AnnouncedChange: Hashable, Sendable {
    /// It has stored, updated or removed one entry of the URL.
    case changed(url: String)
    /// It has removed all entries of the URL.
    case removed(url: String)
    case removedAll
}

/// A store that learns of changes by other processes, as the façade sees it.
package protocol AnnouncingStore: ResponseStore {
    /// Calls the handler, on a background thread, after changes by other processes. Returns a closure that ends the calls.
    func onChange(_ handler: @escaping @Sendable (AnnouncedChange) -> Void) -> @Sendable () -> Void
}

/// One stored response.
package struct StoredEntry: Sendable {
    package let response: StoredResponse
    /// The identifier of the entry in its store, which is not negative.
    package let id: Int64
    /// The length of the body, in bytes.
    package let bodySize: Int
    /// The checksum of the body, if the store knows it. With it, the body is found without another lookup.
    package let bodyChecksum: UInt64?
    /// The body, if it is small and the store had read it. Otherwise ask the store for it.
    package var body: Data?
    /// Whether this lookup got the entry from a level that machines share.
    package var isFromSharedLevel = false

    package init(
        response: StoredResponse, id: Int64, bodySize: Int, bodyChecksum: UInt64? = nil, body: Data? = nil
    ) {
        self.response = response
        self.id = id
        self.bodySize = bodySize
        self.bodyChecksum = bodyChecksum
        self.body = body
    }

    /// The checksum of the body: ``bodyChecksum``, or else the checksum of ``body``; nil if both are nil.
    package var availableChecksum: UInt64? { bodyChecksum ?? body.map { $0.withUnsafeBytes { Checksum64.of($0) } } }

    package var withoutBody: StoredEntry {
        var entry = self
        entry.body = nil
        return entry
    }
}
