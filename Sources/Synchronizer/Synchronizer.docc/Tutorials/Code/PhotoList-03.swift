import Foundation
import Synchronizer

/// One for the whole app. Responses without an explicit lifetime are cached for one day.
let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60)

struct Photo: Decodable, Identifiable, Sendable {
    let id: Int
    let title: String
    let url: URL
}

struct Feed: Decodable, Sendable {
    let items: [Photo]
}

@MainActor
final class PhotoList {
    private(set) var photos: [Photo] = []
    private(set) var message: String?
    private let feed: JSONResource<Feed>

    init(feedURL: URL) {
        feed = JSONResource(url: feedURL)
    }

    func load() async {
        do {
            photos = try await synchronizer.load(feed).items
        } catch {
            message = "\(error)"
        }
    }
}
