/*:
 # Cancelling Off Screen

 `swift run CancellingOffScreen` runs this page where there is no Xcode.

 A list is scrolled faster than its images can be loaded. Each cell cancels its load when it leaves the screen: what
 nobody looks at any more costs nothing, and what is on the screen comes sooner.
 */
import Foundation
import ImageResource
import ScriptedServer
import Synchronizer

let site = try SampleSite(itemCount: 120)
site.server.limitBandwidth(to: 4_000_000)  // bytes a second, for all connections together
let feedURL = site.feedURL

let synchronizer = Synchronizer(urlCache: nil)
let feed = try await synchronizer.load(JSONResource<SampleFeed>(url: feedURL))
/*:
 A cell keeps the closure that cancels its load. That is all there is to it.
 */
@MainActor
final class Cell {
    private var cancelLoading: CancelLoading?
    private(set) var image: PlatformImage?

    func appear(showing url: URL) {
        cancelLoading = synchronizer.loadResource(ImageResource(url: url, maxPixelSize: 200)) { [weak self] result in
            if case .success(let image) = result { self?.image = image }
        }
    }

    func disappear() {
        cancelLoading?()
    }
}
/*:
 Ten cells are visible. Every ten milliseconds one appears below and one disappears above.
 */
var visible: [Cell] = []
var seen = 0
for item in feed.items {
    let cell = Cell()
    cell.appear(showing: item.url)
    visible.append(cell)
    if visible.count > 10 {
        let gone = visible.removeFirst()
        gone.disappear()
        if gone.image != nil { seen += 1 }
    }
    try await Task.sleep(nanoseconds: 10_000_000)
}
/*:
 The list has come to rest. What is on the screen is loaded to its end: asking again joins the load under way.
 */
for item in feed.items.suffix(10) {
    _ = try await synchronizer.load(ImageResource(url: item.url, maxPixelSize: 200))
}

let counts = site.server.counts
let everything = try SamplePhotograph.all().reduce(0) { $0 + $1.data.count } * feed.items.count / 6
print("\(feed.items.count) cells went past; \(seen) had their image before they were gone.")
print("At rest the 10 visible cells have theirs.")
print("\(feed.items.count - counts.requests + 1) images were never asked for: their cells had gone before their turn.")
print(
    "The server sent \(counts.bodyBytesSent / 1_000_000) MB; everything would have been \(everything / 1_000_000) MB.")
//: [Next: Your Own Resource](@next)
