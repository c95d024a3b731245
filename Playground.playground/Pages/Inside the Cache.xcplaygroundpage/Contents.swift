/*:
 # Inside the Cache

 *For developers who want to see what is stored.* Without Xcode, run `swift run InsideTheCache`.

 This page shows an entry, the header that is injected into it, and a revalidation on the wire.
 */
import Foundation
import ScriptedServer
import Synchronizer

let server = try ScriptedServer()
server["/news"] = Reply("Nothing new.", fields: ["ETag": "\"7\"", "Content-Type": "text/plain"]).conditional()
let url = server.url("/news")
/*:
 The server's response has a validator, `ETag`, but no lifetime. `cacheTime` gives it one: ten minutes.
 */
let cache = SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
var configuration = Synchronizer.Configuration(cacheTime: 10 * 60, urlCache: cache)
configuration.caching = .managed  // the same on every platform; Apple platforms default to `.native`
let synchronizer = Synchronizer(configuration: configuration)

let first = try await synchronizer.loaded(DataResource(url: url))
print("First: \(first.trace)")
/*:
 The injected header is in the stored response only. The response that you get has the server's own headers.
 */
@MainActor func lifetime(_ response: URLResponse?) -> String {
    (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Control") ?? "nothing"
}

print("  Cache-Control that you see: \(lifetime(first.response))")
print("  Cache-Control that is stored: \(lifetime(cache.cachedResponse(for: URLRequest(url: url))?.response))")
/*:
 While the entry is fresh, no request is sent. (This page first removes the object from memory, to show the cache.)
 */
synchronizer.removeAllObjects()
print("\nSecond: \(try await synchronizer.loaded(DataResource(url: url)).trace)")
/*:
 A request can force a validation. It carries the validator, and the response has no body.
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
print("\nThe server replied \(server.counts.replies) and sent \(server.counts.bodyBytesSent) bytes of body in all.")
/*:
 A response that is not stored says why, and so does the next load of its URL.
 */
server["/secret"] = Reply("Burn after reading.", fields: ["Cache-Control": "no-store"])
let secret = DataResource(url: server.url("/secret"))
for _ in 1...2 {
    let trace = try await synchronizer.loaded(secret).trace
    print("\nSecret: \(trace.reason); \(trace.storing?.description ?? "")")
}
/*:
 Offline, every stored response answers, however old it is. Everything else fails at once.
 */
synchronizer.isOffline = true
synchronizer.removeAllObjects()
print("\nOffline: \(try await synchronizer.loaded(DataResource(url: url)).trace)")
do {
    _ = try await synchronizer.load(secret)
} catch SynchronizerError.notCached {
    print("Offline, the secret is not stored.")
}
/*:
 A banner in your app can follow the switch.
 */
for await isOffline in synchronizer.offlineUpdates {
    print("The banner is \(isOffline ? "shown" : "hidden").")
    if !isOffline { break }
    synchronizer.isOffline = false
}
/*:
 You can list what a cache has. `swift run synchronizer-cache` does that for one on the disk.
 */
for await entry in cache.entries {
    print("\n\(entry.url): status \(entry.status), \(entry.size) bytes, fresh for \(Int(entry.remainingLifetime())) s")
}
