import Foundation
import Synchronizer

extension Tour {
    /// The server is gone: what is fresh comes as ever, what is not is asked for in vain, or taken as it is.
    mutating func goOffline() async throws {
        site.stop()
        let synchronizer = makeSynchronizer()
        let (pass, _) = try await measure("offline", synchronizer)
        add(pass, "the server is stopped: what is fresh comes from the disk as ever")
        time.set(2 * Self.day)
        let feed = DataResource(url: site.feedURL)
        do {
            let loaded = try await synchronizer.loaded(feed)
            terminal.print("    two days later the feed comes all the same: \(loaded.trace)")
        } catch {
            terminal.print("    two days later it is an error: \(error)")
        }
        let taken = try await Outcome(
            loading: site.feedURL, "whatever its age", synchronizer, terminal, cachePolicy: .returnCacheDataElseLoad)
        terminal.print("    whatever its age (.returnCacheDataElseLoad): \(taken.loaded) of \(pass.loaded)")
    }
}
