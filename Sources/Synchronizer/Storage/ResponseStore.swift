import Foundation
import HTTPCaching

/// Where responses are kept, whatever keeps them: what Fetching sees of Storage.
///
/// Calls may block on the disk and come on any background thread, several at once.
package protocol ResponseStore: Sendable {
    /// All that is stored for a URL (absolute, without fragment), newest first.
    func entries(for url: String) -> [StoredEntry]

    /// The body of an entry; nil if it is gone, or was damaged and has been dropped.
    func body(of entry: StoredEntry) -> Data?

    /// Keeps a response. It replaces what is stored for the same URL, method and selecting fields.
    /// The body, the storage policy and the user info are those of `cached`, the rest is that of `response`.
    func store(_ response: StoredResponse, _ cached: CachedURLResponse)

    /// Replaces all but the body of an entry (RFC 9111 §4.3.4); without effect if the entry is gone.
    func update(_ entry: StoredEntry, to response: StoredResponse)

    func remove(_ entry: StoredEntry)

    /// Removes all that is stored for a URL.
    func removeEntries(for url: String)

    func removeAll()
}

/// One stored response.
package struct StoredEntry: Sendable {
    package let response: StoredResponse
    /// What the store finds it by; not negative.
    package let id: Int64
    /// The length of the body, in bytes.
    package let bodySize: Int
    /// The body as it was then, if it is small and the store had it at hand; else the store is asked for it.
    package var body: Data?

    package init(response: StoredResponse, id: Int64, bodySize: Int, body: Data? = nil) {
        self.response = response
        self.id = id
        self.bodySize = bodySize
        self.body = body
    }

    var withoutBody: StoredEntry { StoredEntry(response: response, id: id, bodySize: bodySize) }
}
