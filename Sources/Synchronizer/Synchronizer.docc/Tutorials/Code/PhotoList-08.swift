import Foundation
import ImageResource
import SwiftUI
import Synchronizer

/// One for the whole app. Responses without an explicit lifetime are cached for one day.
let synchronizer = Synchronizer(cacheTime: 24 * 60 * 60)

struct Photo: Decodable, Identifiable, Sendable {
    let id: Int
    let title: String
    let url: URL
}

extension Photo {
    /// Exactly what a row shows, so that a prefetched thumbnail is the one that the row finds.
    var thumbnail: RemoteImage {
        RemoteImage(request: URLRequest(url: url), sizing: Photo.thumbnailSizing)
    }

    static let thumbnailSizing = ImageSizing.space(CGSize(width: 80, height: 80), scale: 3)
}

struct Feed: Decodable, Sendable {
    let items: [Photo]
}

@MainActor
final class PhotoList: ObservableObject {
    @Published private(set) var photos: [Photo] = []
    @Published private(set) var message: String?
    private let feed: JSONResource<Feed>

    init(feedURL: URL) {
        feed = JSONResource(url: feedURL)
    }

    func load() async {
        do {
            for try await update in synchronizer.updates(of: feed) {
                photos = update.object.items
            }
        } catch {
            message = "\(error)"
        }
    }
}

struct PhotoListView: View {
    @StateObject private var list: PhotoList

    init(feedURL: URL) {
        _list = StateObject(wrappedValue: PhotoList(feedURL: feedURL))
    }

    var body: some View {
        List(list.photos) { photo in
            PhotoRow(photo: photo)
        }
        .task { await list.load() }
    }
}

struct PhotoRow: View {
    let photo: Photo

    var body: some View {
        HStack {
            ResourceImage(
                url: photo.url, sizing: Photo.thumbnailSizing, synchronizer: synchronizer
            ) { image in
                image.resizable().aspectRatio(contentMode: .fill)
            } placeholder: {
                Color.gray
            }
            .frame(width: 80, height: 80)
            .clipped()
            Text(photo.title)
        }
    }
}
