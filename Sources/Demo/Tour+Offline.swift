import Foundation
import Synchronizer

extension Tour {
    /// The server is stopped. Fresh responses are used as before. Stale ones fail, or are used if the cache policy allows it.
    mutating func goOffline() async throws {
        site.stop()
        let synchronizer = makeSynchronizer()
        let (pass, _) = try await measure("offline", with: synchronizer)
        add(pass, words: "the server is stopped: fresh responses come from the disk as before")
        time.set(2 * Self.day)
        let feed = DataResource(url: site.feedURL)
        do {
            let loaded = try await synchronizer.loaded(feed)
            terminal.print("    two days later the feed still loads: \(loaded.trace)")
        } catch {
            terminal.print("    two days later it is an error: \(error)")
        }
        let taken = try await Outcome(
            loading: site.feedURL, as: "whatever its age", with: synchronizer, terminal: terminal,
            cachePolicy: .returnCacheDataElseLoad)
        terminal.print("    whatever its age (.returnCacheDataElseLoad): \(taken.loaded) of \(pass.loaded)")
    }
}
