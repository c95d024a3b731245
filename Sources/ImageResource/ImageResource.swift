public import Foundation
// Users of this module also see the sizes, limits, errors and bitmaps of ImageCodecs.
@_exported public import ImageCodecs
public import Synchronizer

/// An image at a URL. The load decodes it on a background thread, upright, at the size that you ask for.
///
/// ```swift
/// let image = try await synchronizer.load(ImageResource(url: url, maxPixelSize: 400))
/// ```
///
/// Different sizes of one URL share the download, but not the decoded image. An animation gives its first frame. A failed
/// decode is an ``ImageError`` inside of `SynchronizerError.undecodable`.
public struct ImageResource: Resource {
    private let imageRequest: URLRequest
    /// Loads with equal identities are coalesced.
    public let identity: ResourceIdentity
    /// Names ``sizing``.
    public let variant: ResourceVariant
    /// The size at which the image is decoded.
    public let sizing: ImageSizing
    /// The URL of a smaller file for constrained networks; see `Resource.lowDataURL`.
    public var lowDataURL: URL?

    /// Creates an image that keeps its stored size.
    public init(url: URL) {
        self.init(request: URLRequest(url: url))
    }

    /// Creates an image whose longer side has at most `maxPixelSize` pixels. A smaller image keeps its size. Zero or less
    /// asks for the stored size.
    public init(url: URL, maxPixelSize: Int) {
        self.init(request: URLRequest(url: url), sizing: .maxPixelSize(maxPixelSize))
    }

    /// Creates an image for a view: as large as the view needs it, and not larger than it is stored.
    /// - Parameters:
    ///   - url: The URL of the image.
    ///   - targetSize: The view's size in points. If it is empty, as before layout, the image keeps its stored size.
    ///   - contentMode: Whether the image fits inside the view or covers it. The image is not cropped.
    ///   - scale: The number of pixels per point of the view's screen, and the scale of the image.
    public init(
        url: URL, targetSize: CGSize, contentMode: ImageSizing.ContentMode = .aspectFill, scale: CGFloat
    ) {
        self.init(
            request: URLRequest(url: url), sizing: .space(targetSize, contentMode: contentMode, scale: scale))
    }

    /// Creates an image from your own request: with headers, a cache policy, a timeout.
    public init(request: URLRequest, sizing: ImageSizing = .stored) {
        imageRequest = request
        identity = ResourceIdentity(request)
        variant = ResourceVariant(sizing.name)
        self.sizing = sizing
    }

    /// The request that this resource was created with.
    public func request() -> URLRequest { imageRequest }

    /// Decodes the image. ``ImageDecoding`` has the limits.
    public var parse: @Sendable (Data) throws -> PlatformImage {
        { [sizing] data in try PlatformImage.decode(data, sizing: sizing) }
    }

    /// The bytes of the image's pixels in memory.
    public func cost(of object: PlatformImage, size: Int) -> Int { object.decodedByteCount }
}

/// JPEG and WebP have previews while their bytes arrive: see `Synchronizer.updates(of:)`.
extension ImageResource: ProgressiveResource {
    package func makePreviewer() -> any Previewer<PlatformImage> {
        ImagePreviewer(sizing: sizing)
    }
}
