import Foundation

/// The size at which an image is decoded: never larger than it is stored, and always in its own aspect ratio.
public struct ImageSizing: Hashable, Sendable {
    /// How an image fills a space of another aspect ratio.
    public enum ContentMode: String, Sendable, Hashable {
        /// The whole image is visible: it is as large as fits inside the space.
        case aspectFit
        /// The image covers the whole space. It reaches beyond two sides; `ImageProcessing` can crop it.
        case aspectFill
    }

    /// How the pixels of a smaller image are computed from those of the larger.
    public enum Filter: String, Sendable, Hashable {
        /// Each pixel is the mean of the area that it covers: soft, without halos.
        case area
        /// Lanczos's filter with three lobes: sharper, with faint halos beside hard edges. For JPEG it is also faster,
        /// because a smaller intermediate size suffices.
        case lanczos
    }

    private enum Rule: Hashable {
        case stored
        case longerSide(Int)
        case space(width: Int, height: Int, ContentMode)
    }

    private let rule: Rule
    /// The number of pixels per point, which becomes the scale of the decoded image.
    public let scale: CGFloat
    /// The filter for scaling. ImageIO ignores it and uses its own.
    public let filter: Filter

    private init(_ rule: Rule, scale: CGFloat = 1, filter: Filter = .area) {
        self.rule = rule
        self.filter = filter
        self.scale = scale.isFinite && scale > 0 ? scale : 1
    }

    /// The stored size.
    public static let stored = ImageSizing(.stored)

    /// A size whose longer side has at most `pixels` pixels. Zero or less asks for the stored size.
    public static func maxPixelSize(_ pixels: Int, filter: Filter = .area) -> ImageSizing {
        ImageSizing(pixels > 0 ? .longerSide(pixels) : .stored, filter: filter)
    }

    /// A size for a space in points, on a screen with `scale` pixels per point. An empty space, such as that of a view
    /// before layout, asks for ``stored``.
    public static func space(
        _ size: CGSize, contentMode: ContentMode = .aspectFill, scale: CGFloat, filter: Filter = .area
    ) -> ImageSizing {
        let factor = scale.isFinite && scale > 0 ? scale : 1
        guard let width = pixels(size.width * factor), let height = pixels(size.height * factor) else {
            return ImageSizing(.stored, scale: scale, filter: filter)
        }
        return ImageSizing(.space(width: width, height: height, contentMode), scale: scale, filter: filter)
    }

    private static func pixels(_ length: CGFloat) -> Int? {
        length.isFinite && length > 0 ? Int(min(length.rounded(.up), 1_000_000)) : nil
    }

    /// The size in pixels at which an image of the size `source` is decoded.
    package func size(for source: PixelSize) -> PixelSize {
        switch rule {
        case .stored: return source
        case .longerSide(let side): return source.scaled(by: Double(side) / Double(max(source.width, source.height)))
        case .space(let width, let height, let mode):
            let (across, down) = (Double(width) / Double(source.width), Double(height) / Double(source.height))
            return source.scaled(by: mode == .aspectFit ? min(across, down) : max(across, down))
        }
    }

    /// The space in pixels, if there is one.
    package var space: PixelSize? {
        guard case .space(let width, let height, _) = rule else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// The sizing for an image that is then cropped: to `size` in points or, if that is nil, to the space. ``stored`` becomes a
    /// sizing that covers `size`. If `size` is nil, a space is covered even with `aspectFit`. Other sizings stay as they are.
    package func covering(_ size: CGSize?) -> ImageSizing {
        switch rule {
        case .stored: size.map { .space($0, scale: scale, filter: filter) } ?? self
        case .longerSide: self
        case .space(let width, let height, _):
            size == nil
                ? ImageSizing(.space(width: width, height: height, .aspectFill), scale: scale, filter: filter) : self
        }
    }

    /// Distinguishes this size from others in ``Resource/variant``.
    package var name: String {
        let size: String
        switch rule {
        case .stored: size = "stored"
        case .longerSide(let side): size = "≤\(side)"
        case .space(let width, let height, let mode): size = "\(mode.rawValue) \(width)×\(height)"
        }
        return size + (filter == .area ? "" : " \(filter.rawValue)") + (scale == 1 ? "" : " @\(scale)x")
    }
}
