/*:
 # Loading JSON

 `swift run LoadingJSON` runs this page where there is no Xcode.

 The same synchronizer that loads images loads anything that can be decoded. The feed comes from a small server in this
 process; for one from the web, change this line:
 */
import Foundation
import ScriptedServer
import Synchronizer

let site = try SampleSite(itemCount: 6)
let feedURL = site.feedURL
let synchronizer = Synchronizer(urlCache: SQLiteURLCache(memoryCapacity: 20 << 20, diskCapacity: 0))
/*:
 Any type that is `Decodable` and `Sendable` will do.
 */
struct Feed: Decodable {
    struct Item: Decodable {
        let title: String
        let credit: String
        let url: URL
    }

    let title: String
    let items: [Item]
}

let feed = try await synchronizer.load(JSONResource<Feed>(url: feedURL))
print("\(feed.title):")
for item in feed.items { print("· \(item.title), \(item.credit)") }
/*:
 `loaded` also tells where the answer came from, and why. The line can go into a log or a bug report.
 */
let again = try await synchronizer.loaded(JSONResource<Feed>(url: feedURL))
print("\nOnce more: \(again.trace)")
/*:
 The same bytes as another type are another object. The response is fresh, so no request is made for it. (A decoder of
 your own can be given, too: `JSONResource<Feed>(url: feedURL, decoder: decoder)`.)
 */
struct Heading: Decodable {
    let title: String
}

let heading = try await synchronizer.loaded(JSONResource<Heading>(url: feedURL))
print("The heading alone: \(heading.object.title), from \(heading.source)")
/*:
 Errors say which URL it was, and why. A response that cannot be decoded is not kept, so that the next load asks anew.
 */
for url in [site.server.url("/missing.json"), site.server.url("/photographs/rocket.jpg")] {
    do {
        _ = try await synchronizer.load(JSONResource<Feed>(url: url))
    } catch let error as SynchronizerError {
        print("\n\(error)")
    }
}
/*:
 `updates(of:)` gives what is stored at once, even if it is stale, and then what the server says: here, that nothing has
 changed. The request insists on asking, or the fresh response would be the end of it.
 */
var request = URLRequest(url: feedURL)
request.cachePolicy = .reloadRevalidatingCacheData
request.setValue("application/json", forHTTPHeaderField: "Accept")
print("")
for try await update in synchronizer.updates(of: JSONResource<Feed>(request: request)) {
    switch update.phase {
    case .stored: print("Show the \(update.object.items.count) items that are stored …")
    case .preview: break  // images only
    case .unchanged: print("… which are what the server has, too.")
    case .fresh: print("… and then the \(update.object.items.count) that the server has.")
    }
}
//: [Next: Cancelling Off Screen](@next)
