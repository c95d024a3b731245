/*:
 # Cancelling Off Screen

 *For developers of lists.* Without Xcode, run `swift run CancellingOffScreen`.

 A list scrolls faster than its images load. Each cell cancels its load when it leaves the screen. Then images that are no
 longer visible cost nothing, and visible ones arrive sooner.
 */
import Foundation
import ImageResource
import ScriptedServer
import Synchronizer

let site = try SampleSite(itemCount: 120)
site.server.limitBandwidth(to: 4_000_000)  // bytes per second, for all connections together
let feedURL = site.feedURL

let synchronizer = Synchronizer(urlCache: nil)
let feed = try await synchronizer.load(JSONResource<SampleFeed>(url: feedURL))
/*:
 A cell keeps the closure that cancels its load. Nothing else is needed.
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
 Ten cells are visible. Every ten milliseconds one appears at the bottom and one disappears at the top.
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
 The list has stopped. To wait for the visible images, this page loads them once more: each new load joins the one that is
 in flight.
 */
for item in feed.items.suffix(10) {
    _ = try await synchronizer.load(ImageResource(url: item.url, maxPixelSize: 200))
}

let counts = site.server.counts
let everything = try SamplePhotograph.all().reduce(0) { $0 + $1.data.count } * feed.items.count / 6
print("\(feed.items.count) cells scrolled past; \(seen) had their image before they disappeared.")
print("The 10 visible cells have their images.")
print("\(feed.items.count - counts.requests + 1) images were never requested: their loads were cancelled in the queue.")
print(
    "The server sent \(counts.bodyBytesSent / 1_000_000) MB; all images are \(everything / 1_000_000) MB.")
//: [Next: Prefetching and Retrying](@next)
