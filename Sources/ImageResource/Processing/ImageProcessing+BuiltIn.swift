public import Foundation
import ImageCodecs

extension ImageProcessing {
    /// Crops the image to the space for which it was loaded: `targetSize`, or the size of the view. An image that was
    /// loaded without a space, with `maxPixelSize` for example, stays as it is.
    public static var cropToFill: ImageProcessing { cropToFill(focus: middle) }

    /// Crops the image to the space for which it was loaded, around a point.
    /// - Parameter focus: The point that comes as near to the middle as possible: from (0, 0), the upper left corner of
    ///   the image, to (1, 1).
    public static func cropToFill(focus: CGPoint) -> ImageProcessing {
        ImageProcessing(builtIn: "cropToFill \(focus.x) \(focus.y)", sizing: { $0.covering(nil) }) { image in
            if let space = image.sizing.space { try crop(&image, to: space, focus: focus) }
        }
    }

    /// Scales the image down to cover a size, and crops it to that. A smaller image is not enlarged, but cropped to the same
    /// aspect ratio.
    ///
    /// If the crop comes first, and the resource asks for no other size, the image is decoded at the size that the crop
    /// needs.
    /// - Parameters:
    ///   - size: The size in points.
    ///   - focus: The point that comes as near to the middle as possible: from (0, 0), the upper left corner of the image, to
    ///     (1, 1).
    public static func cropToFill(_ size: CGSize, focus: CGPoint = CGPoint(x: 0.5, y: 0.5)) -> ImageProcessing {
        ImageProcessing(
            builtIn: "cropToFill \(size.width)×\(size.height) \(focus.x) \(focus.y)", sizing: { $0.covering(size) }
        ) { image in
            let sizing = ImageSizing.space(size, scale: image.canvas.scale)
            if let space = sizing.space { try crop(&image, to: space, focus: focus) }
        }
    }

    private static let middle = CGPoint(x: 0.5, y: 0.5)

    private static func crop(_ image: inout ProcessedImage, to space: PixelSize, focus: CGPoint) throws {
        let crop = FillingCrop(of: image.canvas.size, filling: space, focus: (Double(focus.x), Double(focus.y)))
        let size = image.canvas.size
        try image.canvas.crop(crop, filter: image.sizing.filter)
        if crop.area.size != size || image.canvas.size != size { image.cornerRadius = 0 }
    }

    /// Makes the corners round and transparent.
    /// - Parameter radius: The radius in points, limited to half of the shorter side.
    public static func roundedCorners(_ radius: CGFloat) -> ImageProcessing {
        ImageProcessing(builtIn: "roundedCorners \(radius)") { image in
            try clip(&image, cornerRadius: image.pixels(radius))
        }
    }

    /// Crops the image to the square in its middle, and makes everything outside the circle in that square
    /// transparent.
    public static let circle = ImageProcessing(builtIn: "circle") { image in
        let side = min(image.canvas.size.width, image.canvas.size.height)
        try crop(&image, to: PixelSize(width: side, height: side), focus: middle)
        try clip(&image, cornerRadius: Double(side) / 2)
    }

    private static func clip(_ image: inout ProcessedImage, cornerRadius: Double) throws {
        let side = min(image.canvas.size.width, image.canvas.size.height)
        let radius = min(cornerRadius, Double(side) / 2)
        guard radius > 0 else { return }
        try image.canvas.edit(staysOpaque: false) { try $0.clip(cornerRadius: radius) }
        image.cornerRadius = max(min(image.cornerRadius, Double(side) / 2), radius)  // earlier corners may be rounder
    }

    /// Draws a line along the edge, inside of the image. It follows the corners that ``roundedCorners(_:)`` or ``circle``
    /// made before.
    /// - Parameters:
    ///   - color: The colour of the line.
    ///   - width: The width of the line in points.
    public static func border(_ color: ImageColor, width: CGFloat) -> ImageProcessing {
        ImageProcessing(builtIn: "border \(color.name) \(width)") { image in
            let (color, width, radius) = (image.canvas.color(color), image.pixels(width), image.cornerRadius)
            try image.canvas.edit { try $0.drawBorder(color, width: width, cornerRadius: radius) }
        }
    }

    /// Blurs the image with a Gaussian. Pixels beyond an edge of the image count as equal to the nearest pixel of the edge.
    /// - Parameter radius: The standard deviation of the Gaussian in points, as in Core Image's blur; at most 1,000 pixels.
    public static func blur(radius: CGFloat) -> ImageProcessing {
        ImageProcessing(builtIn: "blur \(radius)") { image in
            let sigma = image.pixels(radius)
            try image.canvas.edit { try $0.blur(sigma: sigma) }
        }
    }

    /// Mixes a colour into the image, and keeps the image's transparency. An opaque colour replaces all colours, as for the
    /// template image of an icon; a translucent one tints a photograph.
    public static func tint(_ color: ImageColor) -> ImageProcessing {
        ImageProcessing(builtIn: "tint \(color.name)") { image in
            let color = image.canvas.color(color)
            try image.canvas.edit { try $0.tint(color) }
        }
    }

    /// Replaces colours by greys: the luma of Rec. 709, as CSS does.
    public static let greyscale = ImageProcessing(builtIn: "greyscale") { image in
        try image.canvas.edit { try $0.makeGrey() }
    }

    /// Another spelling of ``greyscale``.
    public static var grayscale: ImageProcessing { greyscale }
}
