/// How stored pixels are to be turned and mirrored to stand upright; the numbers are those of Exif (CIPA DC-008,
/// tag 0x0112), TIFF, and ImageIO's `CGImagePropertyOrientation`.
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// Stored upright.
    case up = 1
    /// To be mirrored left to right.
    case upMirrored = 2
    /// To be turned by half.
    case down = 3
    /// To be mirrored top to bottom.
    case downMirrored = 4
    /// To be mirrored along the diagonal from the top left.
    case leftMirrored = 5
    /// To be turned a quarter clockwise.
    case right = 6
    /// To be mirrored along the diagonal from the top right.
    case rightMirrored = 7
    /// To be turned a quarter counterclockwise.
    case left = 8

    /// Whether rows become columns.
    var swapsAxes: Bool { rawValue >= 5 }

    /// Where the stored picture's left edge comes to lie on the right, or at the bottom.
    var reversesX: Bool { self == .upMirrored || self == .down || self == .rightMirrored || self == .left }

    /// Where the stored picture's top edge comes to lie at the bottom, or on the right.
    var reversesY: Bool { self == .down || self == .downMirrored || self == .right || self == .rightMirrored }

    /// Turned, beyond that, by a quarter counterclockwise.
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

    /// Mirrored, beyond that, left to right.
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

    /// The size that a stored one has when it is upright; and, as well, the other way round.
    func upright(_ size: PixelSize) -> PixelSize {
        swapsAxes ? PixelSize(width: size.height, height: size.width) : size
    }
}
