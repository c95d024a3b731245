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
