import Foundation
import Synchronizer

struct Photo: Decodable, Identifiable, Sendable {
    let id: Int
    let title: String
    let url: URL
}

struct Feed: Decodable, Sendable {
    let items: [Photo]
}
