// Loads a feed and the thumbnails of its first photos, and prefetches those that come next.
import Foundation
import ImageResource
import Synchronizer

struct Feed: Decodable {
    struct Photo: Decodable {
        let title: String
        let url: URL

        /// Described in one place, so that a list and its prefetches want the same thing.
        var thumbnail: ImageResource { ImageResource(url: url, maxPixelSize: 120) }
    }

    let photos: [Photo]
}

@main
struct ThumbnailList {
    static func main() async throws {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)) else {
            print("Usage: ThumbnailList URL-OF-FEED")
            exit(2)
        }
        let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60)
        let feed = try await synchronizer.load(JSONResource<Feed>(url: url))

        let visible = feed.photos.prefix(3), next = feed.photos.dropFirst(3)
        let prefetch = synchronizer.prefetch(next.map(\.thumbnail))
        for photo in visible {
            do {
                let image = try await synchronizer.load(photo.thumbnail)
                print("\(photo.title): \(Int(image.size.width)) × \(Int(image.size.height))")
            } catch {
                print("\(photo.title): no thumbnail")
            }
        }

        let result = await prefetch.result
        print("\(result.loaded) prefetched, \(result.failures.count) failed")
        for failure in result.failures { print("\(feed.photos[3 + failure.index].title): \(failure.error)") }
    }
}
