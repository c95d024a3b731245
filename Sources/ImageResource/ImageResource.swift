public import Foundation
public import Synchronizer

/// An image at a URL, decoded to the pixels that are shown, upright, on a background thread.
///
/// ```swift
/// let image = try await synchronizer.load(ImageResource(url: url, maxPixelSize: 400))
/// ```
///
/// Different sizes of one URL share the download, and not the decoded image. Of an animation it gives the first frame.
/// What cannot be decoded is an ``ImageError`` (inside of `SynchronizerError.undecodable`).
public struct ImageResource: Resource {
    private let imageRequest: URLRequest
    /// What its loads are shared by.
    public let identity: ResourceIdentity
    /// Told by ``sizing``.
    public let variant: ResourceVariant
    /// How large the image is decoded.
    public let sizing: ImageSizing

    /// An image, as large as it is stored.
    public init(url: URL) {
        self.init(request: URLRequest(url: url))
    }

    /// An image whose longer side has at most that many pixels; one that is smaller keeps its size.
    /// Zero or less asks for the stored size.
    public init(url: URL, maxPixelSize: Int) {
        self.init(request: URLRequest(url: url), sizing: .maxPixelSize(maxPixelSize))
    }

    /// An image for a view: as large as the view needs it, and not larger than it is stored.
    /// - Parameters:
    ///   - url: The URL of the image.
    ///   - targetSize: The view's size in points. Without extent, as before layout, the image keeps its stored size.
    ///   - contentMode: Whether the image fits inside of the view or covers it. It is not cropped.
    ///   - scale: The pixels a point of the view's screen; also the scale of the image.
    public init(
        url: URL, targetSize: CGSize, contentMode: ImageSizing.ContentMode = .aspectFill, scale: CGFloat
    ) {
        self.init(
            request: URLRequest(url: url), sizing: .space(targetSize, contentMode: contentMode, scale: scale))
    }

    /// An image by a request of one's own: with headers, a cache policy, a time-out.
    public init(request: URLRequest, sizing: ImageSizing = .stored) {
        imageRequest = request
        identity = ResourceIdentity(request)
        variant = ResourceVariant(sizing.name)
        self.sizing = sizing
    }

    /// The request that it was made with.
    public func request() -> URLRequest { imageRequest }

    /// Decodes; see ``ImageDecoding`` for the limits.
    public var parse: @Sendable (Data) throws -> PlatformImage {
        { [sizing] data in try PlatformImage.decode(data, sizing: sizing) }
    }

    /// The bytes of the image's pixels in memory.
    public func cost(of object: PlatformImage, size: Int) -> Int { object.decodedByteCount }
}
