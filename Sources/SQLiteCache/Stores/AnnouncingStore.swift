import Foundation

/// A store that learns of removals by other machines, as the façade sees it.
package protocol AnnouncingStore: ResponseStore {
    /// Calls the handler, on a background thread, after another process has removed all entries of a URL, or everything (nil).
    /// Returns what ends the calls.
    func onRemoval(_ handler: @escaping @Sendable (_ url: String?) -> Void) -> @Sendable () -> Void
}
