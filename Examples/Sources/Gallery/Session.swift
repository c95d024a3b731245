import Foundation
import GalleryModel
import ImageResource
import Synchronizer

/// The gallery's use of the library: one synchronizer, one cache, and the requests.
@MainActor
final class Session {
    let feedURL: URL
    let synchronizer: Synchronizer
    let listener = Listener()
    let baseline: Baseline?
    /// Whether only stored pictures are shown, whatever their age.
    var isOffline: Bool {
        get { synchronizer.isOffline }
        set { synchronizer.isOffline = newValue }
    }
    /// Whether the server has to confirm stored pictures although they are fresh.
    private var isRevalidating = false

    /// - Parameters:
    ///   - directory: the directory of the cache; nil for the default of this user and program.
    ///   - isCold: whether the cache has nothing in memory, as after a launch.
    ///   - derives: whether decoded pictures are stored, and used.
    init(
        feed: URL, directory: URL? = nil, baseline: Baseline? = nil, isCold: Bool = false, derives: Bool = true
    ) {
        feedURL = feed
        self.baseline = baseline
        let cache = SQLiteURLCache(
            memoryCapacity: isCold ? 0 : 8 << 20, diskCapacity: 1 << 30, directory: directory)
        var configuration = Synchronizer.Configuration(cacheTime: 24 * 60 * 60, urlCache: cache)
        configuration.caching = .managed
        configuration.memoryCapacity = 32 << 20
        configuration.preferredMemoryUsage = 24 << 20
        configuration.cancellationGracePeriod = 0.05  // a cell that GTK uses again may be given the same photograph
        // If bandwidth is the bottleneck, each additional concurrent load delays all of them. Two loads use the bandwidth.
        // With a third, small pictures need not wait while two large ones are in flight.
        configuration.maximumLoadsPerHost = 3
        configuration.observer = listener
        // One core is left to the window: if all cores decode, frames are late.
        configuration.maximumParses = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
        if !derives { configuration.derivedObjects = nil }
        if baseline?.isFirstComeFirstServed == true { configuration.schedule = .oldestFirst }
        synchronizer = Synchronizer(configuration: configuration)
    }

    /// The list of pictures. It is revalidated even if it is fresh.
    var feed: JSONResource<Feed> {
        var request = request(for: feedURL, .reloadRevalidatingCacheData)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        return JSONResource(request: request)
    }

    /// A picture that fills a space given in points: the decoder crops the parts that reach beyond it.
    func thumbnail(of photograph: Photograph, covering size: CGSize, scale: Int) -> ImageResource {
        let request = request(for: photograph.url)
        if baseline == .fullSize { return ImageResource(request: request) }
        return ImageResource(
            request: request, sizing: .space(size, scale: CGFloat(scale)), processing: [.cropToFill(size)])
    }

    /// A picture that fits into a space; at full size without one.
    func picture(of photograph: Photograph, fitting size: CGSize?, scale: Int) -> ImageResource {
        let sizing = size.map {
            ImageSizing.space($0, contentMode: .aspectFit, scale: CGFloat(scale), filter: .lanczos)
        }
        return ImageResource(request: request(for: photograph.url), sizing: sizing ?? .stored)
    }

    private func request(
        for url: URL, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) -> URLRequest {
        URLRequest(url: url, cachePolicy: isRevalidating ? .reloadRevalidatingCacheData : policy)
    }

    /// Makes the server confirm the pictures that `body` requests.
    func revalidating(_ body: () -> Void) {
        isRevalidating = true
        defer { isRevalidating = false }
        body()
    }
}
