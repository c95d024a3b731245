public import Foundation
public import Synchronizer

/// An animation at a URL: GIF, APNG or WebP.
///
/// ```swift
/// let animation = try await synchronizer.load(AnimatedImageResource(url: url, maxPixelSize: 300))
/// ```
///
/// Its first frame is decoded on a background thread when it is loaded, the others when they are asked for.
public struct AnimatedImageResource: Resource {
    private let imageRequest: URLRequest
    /// What its loads are shared by.
    public let identity: ResourceIdentity
    /// Told by ``sizing``.
    public let variant: ResourceVariant
    /// How large the frames are decoded.
    public let sizing: ImageSizing

    /// An animation, as large as it is stored.
    public init(url: URL) {
        self.init(request: URLRequest(url: url))
    }

    /// An animation whose longer side has at most that many pixels; one that is smaller keeps its size.
    /// Zero or less asks for the stored size.
    public init(url: URL, maxPixelSize: Int) {
        self.init(request: URLRequest(url: url), sizing: .maxPixelSize(maxPixelSize))
    }

    /// An animation for a view: its frames are as large as the view needs them, and not larger than they are stored.
    /// - Parameters:
    ///   - url: The URL of the animation.
    ///   - targetSize: The view's size in points. Without extent, as before layout, frames keep their stored size.
    ///   - contentMode: Whether frames fit inside of the view or cover it. They are not cropped.
    ///   - scale: The pixels a point of the view's screen; also the scale of the frames.
    public init(
        url: URL, targetSize: CGSize, contentMode: ImageSizing.ContentMode = .aspectFill, scale: CGFloat
    ) {
        self.init(
            request: URLRequest(url: url), sizing: .space(targetSize, contentMode: contentMode, scale: scale))
    }

    /// An animation by a request of one's own: with headers, a cache policy, a time-out.
    public init(request: URLRequest, sizing: ImageSizing = .stored) {
        imageRequest = request
        identity = ResourceIdentity(request)
        variant = ResourceVariant(sizing.name)
        self.sizing = sizing
    }

    /// The request that it was made with.
    public func request() -> URLRequest { imageRequest }

    /// Reads the file and decodes the first frame; see ``ImageDecoding`` for the limits.
    public var parse: @Sendable (Data) throws -> AnimatedImage {
        { [sizing] data in try AnimatedImage(data: data, sizing: sizing) }
    }

    /// The bytes of the file, of the canvas and of two frames.
    public func cost(of object: AnimatedImage, size: Int) -> Int { object.byteCount }
}
