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
    /// Identifies ``sizing`` and ``processing``: images that differ in them are different objects.
    public let variant: ResourceVariant
    /// The size at which the image is decoded.
    public let sizing: ImageSizing
    /// What happens to the decoded image, in this order.
    public let processing: [ImageProcessing]
    /// The URL of a smaller file for constrained networks; see `Resource.lowDataURL`.
    public var lowDataURL: URL?
    /// Seconds for which a response without an explicit lifetime may be used; see `Resource.cacheTime`.
    public var cacheTime: TimeInterval?
    /// The largest accepted body in bytes; nil for the limit of the configuration.
    public var maximumSize: Int?

    /// Creates an image that keeps its stored size, unless `processing` begins with a crop to another size.
    public init(url: URL, processing: [ImageProcessing] = []) {
        self.init(request: URLRequest(url: url), processing: processing)
    }

    /// Creates an image whose longer side has at most `maxPixelSize` pixels. A smaller image keeps its size. Zero or less
    /// asks for the stored size.
    public init(url: URL, maxPixelSize: Int, processing: [ImageProcessing] = []) {
        self.init(request: URLRequest(url: url), sizing: .maxPixelSize(maxPixelSize), processing: processing)
    }

    /// Creates an image for a view: as large as the view needs it, and not larger than it is stored.
    /// - Parameters:
    ///   - url: The URL of the image.
    ///   - targetSize: The view's size in points. If it is empty, as before layout, the image keeps its stored size.
    ///   - contentMode: Whether the image fits inside the view or covers it. ``ImageProcessing/cropToFill`` crops it.
    ///   - scale: The number of pixels per point of the view's screen, and the scale of the image.
    ///   - processing: What happens to the decoded image, in this order.
    public init(
        url: URL, targetSize: CGSize, contentMode: ImageSizing.ContentMode = .aspectFill, scale: CGFloat,
        processing: [ImageProcessing] = []
    ) {
        self.init(
            request: URLRequest(url: url), sizing: .space(targetSize, contentMode: contentMode, scale: scale),
            processing: processing)
    }

    /// Creates an image from your own request: with headers, a cache policy, a timeout.
    public init(request: URLRequest, sizing: ImageSizing = .stored, processing: [ImageProcessing] = []) {
        let sizing = ImageProcessing.sizing(sizing, for: processing)
        imageRequest = request
        identity = ResourceIdentity(request)
        variant = ResourceVariant(ImageProcessing.name(sizing: sizing, processing: processing))
        self.sizing = sizing
        self.processing = processing
    }

    /// The request that this resource was created with.
    public func request() -> URLRequest { imageRequest }

    /// Decodes the image and processes it. ``ImageDecoding`` has the limits.
    public var parse: @Sendable (Data) throws -> PlatformImage {
        { [sizing, processing] data in
            try ImageProcessing.apply(processing, to: PlatformImage.decode(data, sizing: sizing), decodedAt: sizing)
        }
    }

    /// The bytes of the image's pixels in memory.
    public func cost(of object: PlatformImage, size: Int) -> Int { object.decodedByteCount }
}

/// The stored file stays after an error that does not blame it.
extension ImageResource: ErrorJudging {
    package func blamesBody(for error: any Error) -> Bool { (error as? ImageError)?.blamesBytes ?? false }
}

extension ImageError {
    /// Whether the bytes are no image. All other errors come from a limit, from this build, or from processing.
    var blamesBytes: Bool {
        switch self {
        case .unknownFormat, .corrupt: true
        case .unsupportedFormat, .tooManyPixels, .overBudget, .noSuchFrame, .outOfMemory: false
        }
    }
}

/// The decoded and processed pixels are stored next to the file, if `Synchronizer.Configuration.derivedObjects` accepts them.
extension ImageResource: DerivedResource {
    /// The version of this package's decoders, and of the stored form.
    public static var encodingVersion: String { "2" }

    /// The pixels, without alpha if the image is opaque.
    public func encode(_ object: PlatformImage) throws -> Data? { object.storedForm }

    /// Creates the image from its stored pixels.
    public func decode(_ data: Data) throws -> PlatformImage {
        guard let image = PlatformImage.make(storedForm: data) else { throw ImageError.unknownFormat }
        return image
    }
}

/// ``ImageResource/ImageResource`` under a name that no framework of Apple's uses.
///
/// SwiftUI and UIKit bring another `ImageResource` into scope, for images of asset catalogues. In a file that imports one of
/// them and this module, use this name, or add `import struct ImageResource.ImageResource`.
public typealias RemoteImage = ImageResource

/// JPEG and WebP have previews while their bytes arrive, and on Apple's systems all formats that ImageIO decodes in part. See
/// `Synchronizer.updates(of:)`.
extension ImageResource: ProgressiveResource {
    package func makePreviewer() -> any Previewer<PlatformImage> {
        let previewer = ImagePreviewer(sizing: sizing)
        return processing.isEmpty ? previewer : ProcessedPreviewer(previewer, processing: processing, sizing: sizing)
    }
}

/// Processes the previews of an image in the same way as the image itself.
private final class ProcessedPreviewer: Previewer {
    private let previewer: any Previewer<PlatformImage>
    private let processing: [ImageProcessing]
    private let sizing: ImageSizing

    init(_ previewer: any Previewer<PlatformImage>, processing: [ImageProcessing], sizing: ImageSizing) {
        (self.previewer, self.processing, self.sizing) = (previewer, processing, sizing)
    }

    func preview(of body: Data) -> PlatformImage? {
        previewer.preview(of: body).flatMap { try? ImageProcessing.apply(processing, to: $0, decodedAt: sizing) }
    }
}
