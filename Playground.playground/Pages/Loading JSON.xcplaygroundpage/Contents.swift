/*:
 # Loading JSON

 *For developers who load JSON.* Without Xcode, run `swift run LoadingJSON`.

 The synchronizer that loads your images also loads anything that can be decoded. The feed comes from a small server in
 this process. To load one from the web, change this line:
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
 `loaded` also tells you where the response came from, and why. You can put this line into a log or a bug report.
 */
let again = try await synchronizer.loaded(JSONResource<Feed>(url: feedURL))
print("\nAgain: \(again.trace)")
/*:
 The same bytes can become an object of another type. The response is fresh, so no request is sent. (You can pass a
 decoder of your own, too: `JSONResource<Feed>(url: feedURL, decoder: decoder)`.)
 */
struct Heading: Decodable {
    let title: String
}

let heading = try await synchronizer.loaded(JSONResource<Heading>(url: feedURL))
print("The heading alone: \(heading.object.title), from \(heading.source)")
/*:
 Errors name the URL and the reason. A response that can't be decoded is removed from the cache, so the next load uses
 the network.
 */
for url in [site.server.url("/missing.json"), site.server.url("/photographs/rocket.jpg")] {
    do {
        _ = try await synchronizer.load(JSONResource<Feed>(url: url))
    } catch let error as SynchronizerError {
        print("\n\(error)")
    }
}
/*:
 `updates(of:)` first gives you the stored object, even a stale one, and then what the server says: here, that nothing
 has changed. The cache policy forces a validation. Otherwise the fresh response would be the only update.
 */
var request = URLRequest(url: feedURL)
request.cachePolicy = .reloadRevalidatingCacheData
request.setValue("application/json", forHTTPHeaderField: "Accept")
print("")
for try await update in synchronizer.updates(of: JSONResource<Feed>(request: request)) {
    switch update.phase {
    case .stored: print("Show the \(update.object.items.count) stored items …")
    case .preview: break  // images only
    case .unchanged: print("… which the server confirms.")
    case .stale: print("… which the server can't confirm.")
    case .fresh: print("… and then the \(update.object.items.count) that the server has.")
    }
}
/*:
 `JSONResource` also sends a value. A success invalidates what is stored for its URL.
 */
struct Draft: Encodable {
    let title: String
}

site.server["/drafts"] = Reply(#"{"title": "Saved"}"#, status: 201)
let draftsURL = site.server.url("/drafts")
let saved = try await synchronizer.load(JSONResource<Heading>(url: draftsURL, body: Draft(title: "New")))
print("\nThe server received \(site.server.requests.last.map { String(decoding: $0.body, as: UTF8.self) } ?? "")")
print("and answered “\(saved.title)”.")
/*:
 If there is no body to decode, `EmptyResource` gives you the head of the response.
 */
site.server["/drafts"] = Reply(status: 204)
let head = try await synchronizer.load(EmptyResource(url: draftsURL, method: "DELETE"))
print("Deleted: \(head.status)")
/*:
 A query sent by `POST` can be cached, if you say that it changes nothing. The second load sends no request. (The method
 `QUERY` needs no key, because it never changes anything.)
 */
site.server["/search"] = Reply(#"{"title": "Found"}"#, fields: ["Cache-Control": "max-age=60"])
let search = try JSONResource<Heading>(url: site.server.url("/search"), body: ["text": "cat"], cacheKey: .body)
for _ in 1...2 { print("Search: from \(try await synchronizer.loaded(search).source)") }
/*:
 Hooks sign requests. This server refuses the first token. Both loads wait while one call gets another token, and are sent
 again with it.
 */
site.server.handle("/account") { request in
    request["Authorization"] == "Bearer 2" ? Reply(#"{"title": "Your account"}"#) : Reply(status: 401)
}
func signed(_ request: URLRequest, with token: String) -> URLRequest {
    var request = request
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    return request
}

var configuration = Synchronizer.Configuration(urlCache: nil)
configuration.prepare = { signed($0, with: "1") }
configuration.authenticate = { request, response in
    print("The server answered \(response.statusCode): here is another token.")
    return signed(request, with: "2")
}
let signing = Synchronizer(configuration: configuration)
let account = JSONResource<Heading>(url: site.server.url("/account"))
let settings = JSONResource<Heading>(url: site.server.url("/account?settings"))
async let first = signing.load(account)
async let second = signing.load(settings)
print("\(try await first.title), and again: \(try await second.title)")
/*:
 An object that you have already can be put into memory, for a preview or a test. Loads get it without any request.
 */
let mine = JSONResource<Heading>(url: site.server.url("/mine"))
synchronizer.insert(Heading(title: "Mine"), for: mine)
let inserted = try await synchronizer.loaded(mine)
print("\(inserted.object.title), from \(inserted.source)")
//: [Next: Downloading Files](@next)
