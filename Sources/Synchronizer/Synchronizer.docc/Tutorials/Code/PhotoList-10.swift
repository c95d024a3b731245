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

    private var prefetch: PrefetchTask?

    /// Prefetches the ten photos after one that has appeared.
    func appeared(_ photo: Photo) {
        guard let index = photos.firstIndex(where: { $0.id == photo.id }) else { return }
        prefetch?.cancel()
        prefetch = synchronizer.prefetch(photos[index...].dropFirst().prefix(10).map(\.thumbnail))
    }

    func load() async {
        do {
            for try await update in synchronizer.updates(of: feed) {
                photos = update.object.items
                message = update.source == .stale ? "Offline" : nil
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
        VStack {
            if let message = list.message { Text(message) }
            List(list.photos) { photo in
                PhotoRow(photo: photo)
                    .onAppear { list.appeared(photo) }
            }
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
