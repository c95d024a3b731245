/*:
 # Processing Images

 *For developers who show images in cells.* Without Xcode, run `swift run ProcessingImages`.
 */
import Foundation
import ImageResource
import ScriptedServer
import Synchronizer

let site = try SampleSite()
let imageURL = site.server.url("/photographs/astronaut.png?item=1")
let synchronizer = Synchronizer(urlCache: SQLiteURLCache(memoryCapacity: 20 << 20, diskCapacity: 0))
let space = CGSize(width: 120, height: 90)

func show(_ title: String, _ processing: [ImageProcessing]) async throws {
    let loaded = try await synchronizer.loaded(ImageResource(url: imageURL, processing: processing))
    print("\(title): \(loaded.object), from \(loaded.source)")
}
/*:
 Images are processed where they are decoded, on a background thread. This one is scaled to fill a cell, cropped, and gets
 round corners. Lengths are in points, which are pixels here, because the scale is 1.
 */
try await show("Round corners", [.cropToFill(space), .roundedCorners(12)])
/*:
 The focus is the point that stays visible. Here it is the face of the astronaut.
 */
try await show("Focus", [.cropToFill(space, focus: CGPoint(x: 0.43, y: 0.2))])
/*:
 The steps happen in the order of the list. A border follows the corners or the circle before it.
 */
try await show("Circle", [.cropToFill(space), .circle, .border(.white, width: 2)])
/*:
 The radius of a blur is the standard deviation of the Gaussian.
 */
try await show("Blur", [.cropToFill(space), .blur(radius: 6)])
try await show("Grey", [.cropToFill(space), .greyscale])
try await show("Tint", [.cropToFill(space), .tint(ImageColor(red: 0.1, green: 0.3, blue: 0.8, alpha: 0.4))])
/*:
 Your own processing is a closure with an identifier. It gets an image and returns one.
 */
let framed = ImageProcessing(identifier: "com.example.framed") { image in
    try ImageProcessing.apply([.border(.white, width: 6), .border(.black, width: 1)], to: image)
}
try await show("Frame", [.cropToFill(space), framed])
/*:
 Memory finds an image by its identifiers, too: the same processing of the same image is not done again. All of these images
 came from one download.
 */
try await show("Round corners, again", [.cropToFill(space), .roundedCorners(12)])
print("The server received \(site.server.counts.requests) request(s).")
/*:
 Views take the same list, and can fade images in that were not in memory:

     imageView.loadImage(url, processing: [.cropToFill, .roundedCorners(12)], transition: .fade(0.25))
 */
//: [Next: Loading JSON](@next)
