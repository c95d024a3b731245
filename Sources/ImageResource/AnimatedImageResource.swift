public import Foundation
public import ImageCodecs
public import Synchronizer

/// An animation at a URL: GIF, APNG or WebP.
///
/// ```swift
/// let animation = try await synchronizer.load(AnimatedImageResource(url: url, maxPixelSize: 300))
/// ```
///
/// The load decodes the first frame on a background thread. The other frames are decoded when you ask for them.
public struct AnimatedImageResource: Resource {
    /// The same file as a still image.
    private var still: ImageResource

    /// Creates an animation whose frames keep their stored size.
    public init(url: URL) {
        still = ImageResource(url: url)
    }

    /// Creates an animation whose longer side has at most `maxPixelSize` pixels; see
    /// ``ImageResource/init(url:maxPixelSize:processing:)``.
    public init(url: URL, maxPixelSize: Int) {
        still = ImageResource(url: url, maxPixelSize: maxPixelSize)
    }

    /// Creates an animation for a view; see ``ImageResource/init(url:targetSize:contentMode:scale:processing:)``.
    public init(
        url: URL, targetSize: CGSize, contentMode: ImageSizing.ContentMode = .aspectFill, scale: CGFloat
    ) {
        still = ImageResource(url: url, targetSize: targetSize, contentMode: contentMode, scale: scale)
    }

    /// Creates an animation from your own request: with headers, a cache policy, a timeout.
    public init(request: URLRequest, sizing: ImageSizing = .stored) {
        still = ImageResource(request: request, sizing: sizing)
    }

    /// The size at which frames are decoded.
    public var sizing: ImageSizing { still.sizing }

    /// The URL of a smaller file for constrained networks; see `Resource.lowDataURL`.
    public var lowDataURL: URL? {
        get { still.lowDataURL }
        set { still.lowDataURL = newValue }
    }

    /// Seconds for which a response without an explicit lifetime may be used; see `Resource.cacheTime`.
    public var cacheTime: TimeInterval? {
        get { still.cacheTime }
        set { still.cacheTime = newValue }
    }

    /// The largest accepted body in bytes; nil for the limit of the configuration.
    public var maximumSize: Int? {
        get { still.maximumSize }
        set { still.maximumSize = newValue }
    }

    /// Loads with equal identities are coalesced.
    public var identity: ResourceIdentity { still.identity }

    /// Identifies ``sizing``: different sizes are different objects.
    public var variant: ResourceVariant { still.variant }

    /// The request that this resource was created with.
    public func request() -> URLRequest { still.request() }

    /// Reads the file and decodes the first frame. ``ImageDecoding`` has the limits.
    public var parse: @Sendable (Data) throws -> AnimatedImage {
        { [sizing] data in try AnimatedImage(data: data, sizing: sizing) }
    }

    /// The bytes of the file, the canvas and two frames.
    public func cost(of object: AnimatedImage, size: Int) -> Int { object.byteCount }
}

extension AnimatedImageResource: ErrorJudging {
    package func blamesBody(for error: any Error) -> Bool { still.blamesBody(for: error) }
}
