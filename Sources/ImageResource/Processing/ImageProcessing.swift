import Foundation
import ImageCodecs
import Synchronizer

/// A change to a decoded image: a crop, rounded corners, a blur, or your own.
///
/// ```swift
/// let avatar = ImageResource(
///     url: url, targetSize: CGSize(width: 48, height: 48), scale: 2,
///     processing: [.cropToFill, .circle, .border(.white, width: 1)])
/// ```
///
/// An image is processed where it is decoded, on a background thread, in the order of the array. The
/// ``identifier`` is part of the resource's variant: differently processed images of one URL share the download, while
/// loads with the same processing share the result, in flight and in memory.
///
/// Lengths are in points: pixels divided by the scale of the image. The scale is 1 unless the resource was created with
/// another. So for an image created with `maxPixelSize`, lengths are in pixels.
public struct ImageProcessing: Sendable {
    typealias Step = @Sendable (inout ProcessedImage) throws -> Void

    /// Distinguishes this processing from others. Two of your processings with equal identifiers must do the same.
    public let identifier: String
    private let isBuiltIn: Bool
    private let step: Step
    /// Converts the requested size to the size at which to decode an image, if this processing comes first.
    private let sizing: @Sendable (ImageSizing) -> ImageSizing

    /// Creates your own processing.
    ///
    /// ```swift
    /// let upsideDown = ImageProcessing(identifier: "com.example.upside-down") { image in turned(image) }
    /// ```
    ///
    /// - Parameters:
    ///   - identifier: Names what the closure does, with all of its parameters. Images with equal identifiers are shared, also
    ///     between launches of the program, so change the identifier when the closure changes.
    ///   - process: Makes another image. It runs on a background thread and may block it. If it throws, the load fails with
    ///     `SynchronizerError.undecodable`, which contains the error, and the stored response stays. A closure that takes long
    ///     should call `ParseCancellation.check()` regularly, so that it ends when the load is cancelled.
    public init(
        identifier: String, _ process: @escaping @Sendable (_ image: PlatformImage) throws -> PlatformImage
    ) {
        self.identifier = identifier
        isBuiltIn = false
        sizing = { $0 }
        step = { image in
            let result = try process(try image.canvas.image)
            image = ProcessedImage(canvas: try ImageCanvas(result), sizing: image.sizing)
        }
    }

    /// Creates a processing of this package, whose identifier never equals one of yours.
    init(
        builtIn identifier: String, sizing: @escaping @Sendable (ImageSizing) -> ImageSizing = { $0 },
        _ step: @escaping Step
    ) {
        self.identifier = identifier
        isBuiltIn = true
        self.sizing = sizing
        self.step = { image in
            // At most two copies of the pixels are made.
            try DecodeBudget.shared.with(2 * image.canvas.size.bytes) { try step(&image) }
        }
    }

    /// Processes an image on this thread, in the order of the array.
    /// - Parameters:
    ///   - processing: What to do.
    ///   - image: The image. It does not change.
    /// - Throws: `ImageError.outOfMemory`, what your own processing throws, or `CancellationError` inside a cancelled parse.
    public static func apply(_ processing: [ImageProcessing], to image: PlatformImage) throws -> PlatformImage {
        try apply(processing, to: image, decodedAt: .stored)
    }

    /// - Parameter sizing: The size at which the image was decoded, whose space ``cropToFill`` fills.
    static func apply(
        _ processing: [ImageProcessing], to image: consuming PlatformImage, decodedAt sizing: ImageSizing
    ) throws -> PlatformImage {
        if processing.isEmpty { return image }
        var processed = ProcessedImage(canvas: try ImageCanvas(image), sizing: sizing)
        for processing in processing {
            try ParseCancellation.check()
            try processing.step(&processed)
        }
        return try processed.canvas.image
    }

    /// The size at which to decode an image that is processed.
    static func sizing(_ sizing: ImageSizing, for processing: [ImageProcessing]) -> ImageSizing {
        processing.first?.sizing(sizing) ?? sizing
    }

    /// Names a size and the processing after the decode. Different combinations have different names, whatever the identifiers
    /// contain.
    static func name(sizing: ImageSizing, processing: [ImageProcessing]) -> String {
        processing.reduce(sizing.name) { name, processing in
            name + (processing.isBuiltIn ? " | " : " ‖ \(processing.identifier.utf8.count) ") + processing.identifier
        }
    }
}

/// Processing is compared by its identifier.
extension ImageProcessing: Hashable {
    /// Whether both do the same.
    public static func == (one: ImageProcessing, other: ImageProcessing) -> Bool {
        one.identifier == other.identifier && one.isBuiltIn == other.isBuiltIn
    }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identifier)
    }
}

/// An image between two steps of processing.
struct ProcessedImage {
    var canvas: ImageCanvas
    /// The size at which it was decoded.
    let sizing: ImageSizing
    /// The radius of its corners, in pixels. A border follows them.
    var cornerRadius = 0.0

    init(canvas: consuming ImageCanvas, sizing: ImageSizing) {
        self.canvas = canvas
        self.sizing = sizing
    }

    /// A length in pixels. An invalid one is 0.
    func pixels(_ points: CGFloat) -> Double {
        let pixels = Double(points) * canvas.scale
        return pixels.isFinite ? max(pixels, 0) : 0
    }
}
