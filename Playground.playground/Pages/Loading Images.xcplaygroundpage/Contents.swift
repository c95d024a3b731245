/*:
 # Loading Images

 In Xcode, build the scheme *Synchronizer-Package* first. Elsewhere: `swift run LoadingImages`.

 The image comes from a small server in this process. For one from the web, change this line:
 */
import Foundation
import ImageResource
import ScriptedServer
import Synchronizer

let site = try SampleSite()
let imageURL = site.server.url("/photographs/coffee.png?item=1")
/*:
 A synchronizer loads, caches, and shares what is asked for more than once. An app has one, and keeps it. Responses
 that say nothing of their lifetime may be used for a day; this cache keeps them in memory and leaves no file behind.
 */
let day: TimeInterval = 24 * 60 * 60
let cache = SQLiteURLCache(memoryCapacity: 20 << 20, diskCapacity: 0)
let synchronizer = Synchronizer(cacheTime: day, urlCache: cache)
/*:
 The first load asks the server. The image is decoded on a background thread, upright and ready to be drawn.
 */
let first = try await synchronizer.loaded(ImageResource(url: imageURL))
print("The image is \(first.object), from \(first.source).")
/*:
 Another size is another image, made from the bytes that are stored. Ask for the size that you show: a thumbnail takes
 a fraction of the memory.
 */
let small = try await synchronizer.loaded(ImageResource(url: imageURL, maxPixelSize: 200))
print("The thumbnail is \(small.object), from \(small.source): \(small.trace.reason).")
/*:
 What has been decoded is kept, as long as its response is fresh. `cachedObject` looks there and nowhere else, and
 never blocks.
 */
let again = try await synchronizer.loaded(ImageResource(url: imageURL))
print("The same image comes from \(again.source).")
print("It is", synchronizer.cachedObject(for: ImageResource(url: imageURL)) == nil ? "not in memory." : "in memory.")
/*:
 A view that takes a closure: it is called on the main actor. An image in memory is there before `loadResource` returns,
 so a cell that is used again does not flicker.
 */
print("Before …")
let cancelLoading = synchronizer.loadResource(ImageResource(url: imageURL)) { result in
    switch result {
    case .success(let image): print("… here is \(image) …")
    case .noData: print("… the server sent nothing …")
    case .error(let error): print("… \(error) …")
    }
}
print("… and after.")
/*:
 When the view goes off screen:
 */
cancelLoading()
print("The server was asked \(site.server.counts.requests) time(s).")
//: [Next: Loading JSON](@next)
