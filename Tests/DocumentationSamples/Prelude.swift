// What the samples of the documentation use without declaring it: Scripts/check-samples compiles this file with each page.
import Foundation
import ImageResource
import Synchronizer

let url = URL(fileURLWithPath: "/")
let imageURL = url
let feedURL = url
let thumbnailURL = url
let urls = [url]
let destination = url
let token = "token"
let synchronizer = Synchronizer(urlCache: nil)

struct Feed: Decodable, Hashable, Sendable {
    struct Item: Decodable, Hashable, Sendable {
        let title: String
        let url: URL
    }

    let title: String
    let items: [Item]
}

@MainActor
final class AnyImageView {
    var image: PlatformImage?
}

@MainActor let imageView = AnyImageView()

/// Stands for what an app does with a value.
func show(_ values: Any...) {}
