import Foundation
import GalleryModel
import ImageResource
import Synchronizer

/// The library, as the gallery uses it: one synchronizer, one cache, and what is asked of them.
@MainActor
final class Session {
    let feedURL: URL
    let synchronizer: Synchronizer
    let listener = Listener()
    let baseline: Baseline?
    /// Whether only what is stored is shown: by the cache policy of every request.
    var isOffline = false
    /// Whether pictures that are stored are to be confirmed by the server, though they are fresh.
    private var isRevalidating = false

    /// - Parameter directory: where the cache is; nil for that of this user and program.
    init(feed: URL, directory: URL? = nil, baseline: Baseline? = nil) {
        feedURL = feed
        self.baseline = baseline
        let cache = SQLiteURLCache(memoryCapacity: 8 << 20, diskCapacity: 1 << 30, directory: directory)
        var configuration = Synchronizer.Configuration(cacheTime: 24 * 60 * 60, urlCache: cache)
        configuration.caching = .managed
        configuration.memoryCapacity = 32 << 20
        configuration.preferredMemoryUsage = 24 << 20
        configuration.cancellationGracePeriod = 0.05  // a cell that GTK uses again may be given the same photograph
        // Where the line is the bottleneck, each further load at a time makes all of them later. Two keep it busy, and
        // with a third the others need not wait when two are of many megabytes.
        configuration.maximumLoadsPerHost = 3
        configuration.observer = listener
        // One core is left to the window: where all of them decode, frames come late.
        configuration.maximumParses = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
        if baseline?.isFirstComeFirstServed == true { configuration.schedule = .oldestFirst }
        synchronizer = Synchronizer(configuration: configuration)
    }

    /// The pictures' list: what is stored at once, then what the server says, even if that could be spared.
    var feed: JSONResource<Feed> {
        var request = request(for: feedURL, .reloadRevalidatingCacheData)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        return JSONResource(request: request)
    }

    /// A picture at exactly the pixels of a space of so many points that it is to cover.
    func thumbnail(of photograph: Photograph, covering size: CGSize, scale: Int) -> ImageResource {
        let sizing = ImageSizing.space(size, contentMode: .aspectFill, scale: CGFloat(scale))
        return ImageResource(
            request: request(for: photograph.url), sizing: baseline == .fullSize ? .stored : sizing)
    }

    /// A picture as large as it fits into a space; as it is stored without one.
    func picture(of photograph: Photograph, fitting size: CGSize?, scale: Int) -> ImageResource {
        let sizing = size.map {
            ImageSizing.space($0, contentMode: .aspectFit, scale: CGFloat(scale), filter: .lanczos)
        }
        return ImageResource(request: request(for: photograph.url), sizing: sizing ?? .stored)
    }

    private func request(
        for url: URL, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) -> URLRequest {
        let policy = isRevalidating ? .reloadRevalidatingCacheData : policy
        return URLRequest(url: url, cachePolicy: isOffline ? .returnCacheDataDontLoad : policy)
    }

    /// What `body` asks for is confirmed by the server.
    func revalidating(_ body: () -> Void) {
        isRevalidating = true
        defer { isRevalidating = false }
        body()
    }
}
