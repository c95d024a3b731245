import Foundation

/// How large an image is decoded: never larger than it is stored, and always in its own aspect ratio.
public struct ImageSizing: Hashable, Sendable {
    /// How an image is to go into a space of another aspect ratio.
    public enum ContentMode: String, Sendable, Hashable {
        /// All of the image is to be seen: it is as large as fits inside.
        case aspectFit
        /// All of the space is to be covered: the image reaches beyond it on two sides, and is not cropped.
        case aspectFill
    }

    /// How the pixels of a smaller image are made of those of the larger.
    public enum Filter: String, Sendable, Hashable {
        /// Each pixel is the mean of the area that it covers: soft, and free of halos.
        case area
        /// Lanczos's filter of three lobes: sharper, with faint halos beside hard edges. For JPEG it costs less too, as a
        /// smaller intermediate size is enough for it.
        case lanczos
    }

    private enum Rule: Hashable {
        case stored
        case longerSide(Int)
        case space(width: Int, height: Int, ContentMode)
    }

    private let rule: Rule
    /// Pixels a point, as a view counts: what the decoded image gives as its own scale.
    public let scale: CGFloat
    /// How it is made smaller. Where ImageIO decodes, that makes its own choice.
    public let filter: Filter

    private init(_ rule: Rule, scale: CGFloat = 1, filter: Filter = .area) {
        self.rule = rule
        self.filter = filter
        self.scale = scale.isFinite && scale > 0 ? scale : 1
    }

    /// As large as it is stored.
    public static let stored = ImageSizing(.stored)

    /// So that the longer side has at most that many pixels. Zero or less asks for the stored size.
    public static func maxPixelSize(_ pixels: Int, filter: Filter = .area) -> ImageSizing {
        ImageSizing(pixels > 0 ? .longerSide(pixels) : .stored, filter: filter)
    }

    /// For a space of that many points, on a screen of `scale` pixels a point. A space without extent, such as that of
    /// a view before its layout, asks for ``stored``.
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

    /// The size in pixels that an image of that size comes out at.
    func size(for source: PixelSize) -> PixelSize {
        switch rule {
        case .stored: return source
        case .longerSide(let side): return source.scaled(by: Double(side) / Double(max(source.width, source.height)))
        case .space(let width, let height, let mode):
            let (across, down) = (Double(width) / Double(source.width), Double(height) / Double(source.height))
            return source.scaled(by: mode == .aspectFit ? min(across, down) : max(across, down))
        }
    }

    /// What tells this size from others, for ``Resource/variant``.
    var name: String {
        let size: String
        switch rule {
        case .stored: size = "stored"
        case .longerSide(let side): size = "≤\(side)"
        case .space(let width, let height, let mode): size = "\(mode.rawValue) \(width)×\(height)"
        }
        return size + (filter == .area ? "" : " \(filter.rawValue)") + (scale == 1 ? "" : " @\(scale)x")
    }
}
