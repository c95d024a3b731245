/*:
 # Inside the Cache

 `swift run InsideTheCache` runs this page where there is no Xcode.

 What is stored, what was put into it, and what a revalidation looks like on the wire.
 */
import Foundation
import ScriptedServer
import Synchronizer

let server = try ScriptedServer()
server["/news"] = Reply("Nothing new.", fields: ["ETag": "\"7\"", "Content-Type": "text/plain"]).conditional()
let url = server.url("/news")
/*:
 The server gives a validator, `ETag`, and no lifetime. `cacheTime` gives it one: ten minutes.
 */
let cache = SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
var configuration = Synchronizer.Configuration(cacheTime: 10 * 60, urlCache: cache)
configuration.caching = .managed  // the same on every platform; `URLSession` does it itself on Apple's systems
let synchronizer = Synchronizer(configuration: configuration)

let first = try await synchronizer.loaded(DataResource(url: url))
print("First: \(first.trace)")
/*:
 The field is in the stored response. What you are given is the server's own.
 */
@MainActor func lifetime(_ response: URLResponse?) -> String {
    (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Control") ?? "nothing"
}

print("  Cache-Control as you see it: \(lifetime(first.response))")
print("  Cache-Control as it is stored: \(lifetime(cache.cachedResponse(for: URLRequest(url: url))?.response))")
/*:
 While it is fresh the server is not asked. (The object is dropped from memory here, to look at the cache itself.)
 */
synchronizer.removeAllObjects()
print("\nSecond: \(try await synchronizer.loaded(DataResource(url: url)).trace)")
/*:
 A request can insist on asking. The validator goes with it, and the answer has no body.
 */
var request = URLRequest(url: url)
request.cachePolicy = .reloadRevalidatingCacheData
print("\nThird: \(try await synchronizer.loaded(DataResource(request: request)).trace)")
/*:
 On the wire:
 */
for request in server.requests {
    print("\n  → \(request)")
    for line in request.fields where line.name.hasPrefix("If-") { print("    \(line.name): \(line.value)") }
}
print("\nThe server answered \(server.counts.replies) and sent \(server.counts.bodyBytesSent) bytes of body in all.")
