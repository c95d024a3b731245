public import Foundation
import ImageCodecs

/// A colour in sRGB, for borders and tints.
public struct ImageColor: Hashable, Sendable {
    /// The channels, from 0 to 1. The colours are not multiplied with alpha.
    public let red, green, blue, alpha: CGFloat

    /// Creates a colour from channels from 0 to 1. Other values are clamped.
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat = 1) {
        (self.red, self.green, self.blue, self.alpha) = (red.inUnit, green.inUnit, blue.inUnit, alpha.inUnit)
    }

    /// Creates a grey, from 0 (black) to 1 (white).
    public init(white: CGFloat, alpha: CGFloat = 1) {
        self.init(red: white, green: white, blue: white, alpha: alpha)
    }

    /// Opaque black.
    public static let black = ImageColor(white: 0)
    /// Opaque white.
    public static let white = ImageColor(white: 1)

    /// The same colour with another alpha.
    public func withAlpha(_ alpha: CGFloat) -> ImageColor {
        ImageColor(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// Distinguishes this colour from others in ``Resource/variant``.
    var name: String { "\(red) \(green) \(blue) \(alpha)" }
}
