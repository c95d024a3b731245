/*:
 # Loading Images

 *For developers who load their first image.* In Xcode, build the scheme *Synchronizer-Package* first. Without Xcode, run
 `swift run LoadingImages`.

 The image comes from a small server in this process. To load one from the web, change this line:
 */
import Foundation
import ImageResource
import ScriptedServer
import Synchronizer

let site = try SampleSite()
let imageURL = site.server.url("/photographs/coffee.png?item=1")
/*:
 A synchronizer loads and caches resources, and coalesces identical loads. Create one for your app and keep it. Here,
 responses without an explicit lifetime are cached for one day. This cache keeps them in memory and leaves no file behind.
 */
let day: TimeInterval = 24 * 60 * 60
let cache = SQLiteURLCache(memoryCapacity: 20 << 20, diskCapacity: 0)
let synchronizer = Synchronizer(cacheTime: day, urlCache: cache)
/*:
 The first load uses the network. The image is decoded on a background thread, upright and ready to be drawn.
 */
let first = try await synchronizer.loaded(ImageResource(url: imageURL))
print("The image is \(first.object), from \(first.source).")
/*:
 Another size is another image, decoded from the stored bytes. Ask for the size that you show: a thumbnail takes a
 fraction of the memory.
 */
let small = try await synchronizer.loaded(ImageResource(url: imageURL, maxPixelSize: 200))
print("The thumbnail is \(small.object), from \(small.source): \(small.trace.reason).")
/*:
 Decoded images stay in memory while their responses are fresh. `cachedObject` looks only there, and never blocks.
 */
let again = try await synchronizer.loaded(ImageResource(url: imageURL))
print("The same image comes from \(again.source).")
print("It is", synchronizer.cachedObject(for: ImageResource(url: imageURL)) == nil ? "not in memory." : "in memory.")
/*:
 The next launch has nothing in memory. A thumbnail whose decode took long is on the disk as pixels: the file is neither
 read nor decoded. This page plays three launches with one folder, which it removes at the end. The third one does without
 stored thumbnails, and decodes the file again.
 */
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("playground-\(UUID().uuidString)")
let disk = SQLiteURLCache(memoryCapacity: 0, diskCapacity: 20 << 20, directory: folder)
for launch in ["first", "second", "third"] {
    var configuration = Synchronizer.Configuration(cacheTime: day, urlCache: disk)
    configuration.caching = .managed  // Apple platforms default to `.native`, which stores no thumbnails
    if launch == "third" { configuration.derivedObjects = nil }  // no thumbnails are stored or used
    let synchronizer = Synchronizer(configuration: configuration)
    let loaded = try await synchronizer.loaded(ImageResource(url: imageURL, maxPixelSize: 200))
    let work = loaded.trace.isDerived ? "read as pixels" : "decoded"
    print("The \(launch) launch: \(loaded.object) from \(loaded.source), \(work).")
    // It is stored after you have it.
    for _ in 0..<50 where disk.statistics.entries < 2 { try await Task.sleep(nanoseconds: 20_000_000) }
}
try FileManager.default.removeItem(at: folder)
/*:
 An image can have settings of its own: a lifetime for a response without one, a limit for its file, and a smaller file for
 networks on which data should be saved. Apple platforms know such networks; elsewhere, the configuration decides.
 */
var photo = ImageResource(url: imageURL)
photo.cacheTime = 60 * 60  // seconds
photo.maximumSize = 10 << 20  // bytes
photo.lowDataURL = site.server.url("/photographs/rocket.jpg?item=2")
var saving = Synchronizer.Configuration(urlCache: nil)
saving.usesLowDataURLs = true
print("To save data: \(try await Synchronizer(configuration: saving).load(photo)).")
/*:
 In a view, load with a closure. It is called on the main actor. If the image is in memory, it is called before
 `loadResource` returns, so a recycled cell does not flicker.
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
 On Apple platforms, `UIImageView`, `UIButton`, `NSImageView` and `NSButton` have a method for this. It takes a URL, or an image
 with settings of its own. `RemoteImage` is another name for `ImageResource`, for files in which UIKit or SwiftUI brings Apple's
 type of that name into scope.
 */
#if canImport(AppKit)
    import AppKit

    let button = NSButton(frame: NSRect(x: 0, y: 0, width: 100, height: 100))
    button.loadImage(RemoteImage(url: imageURL, maxPixelSize: 100), synchronizer: synchronizer)
#endif
/*:
 When the view leaves the screen:
 */
cancelLoading()
print("The server received \(site.server.counts.requests) request(s).")
//: [Next: Processing Images](@next)
