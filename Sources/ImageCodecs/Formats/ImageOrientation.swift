/// How to rotate and mirror stored pixels to make a picture upright. The raw values are those of Exif (CIPA DC-008, tag
/// 0x0112), TIFF and ImageIO's `CGImagePropertyOrientation`.
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// The picture is stored upright.
    case up = 1
    /// Mirror left to right.
    case upMirrored = 2
    /// Rotate by 180°.
    case down = 3
    /// Mirror top to bottom.
    case downMirrored = 4
    /// Mirror along the diagonal from the top left.
    case leftMirrored = 5
    /// Rotate by 90° clockwise.
    case right = 6
    /// Mirror along the diagonal from the top right.
    case rightMirrored = 7
    /// Rotate by 90° counterclockwise.
    case left = 8

    /// Whether rows become columns.
    var swapsAxes: Bool { rawValue >= 5 }

    /// Whether the stored left edge becomes the right or the bottom edge.
    var reversesX: Bool { self == .upMirrored || self == .down || self == .rightMirrored || self == .left }

    /// Whether the stored top edge becomes the bottom or the right edge.
    var reversesY: Bool { self == .down || self == .downMirrored || self == .right || self == .rightMirrored }

    /// This orientation, followed by a rotation of 90° counterclockwise.
    var turnedLeft: ImageOrientation {
        switch self {
        case .up: return .left
        case .left: return .down
        case .down: return .right
        case .right: return .up
        case .upMirrored: return .leftMirrored
        case .leftMirrored: return .downMirrored
        case .downMirrored: return .rightMirrored
        case .rightMirrored: return .upMirrored
        }
    }

    /// This orientation, followed by mirroring left to right.
    var mirrored: ImageOrientation {
        switch self {
        case .up: return .upMirrored
        case .upMirrored: return .up
        case .down: return .downMirrored
        case .downMirrored: return .down
        case .left: return .rightMirrored
        case .rightMirrored: return .left
        case .right: return .leftMirrored
        case .leftMirrored: return .right
        }
    }

    /// The upright size of a stored size, and vice versa.
    package func upright(_ size: PixelSize) -> PixelSize {
        swapsAxes ? PixelSize(width: size.height, height: size.width) : size
    }
}
