#if canImport(AppKit) && !canImport(UIKit)
    import AppKit

    // This package creates an image once, from decoded pixels, and never changes it. AppKit declares the same conformance
    // since macOS 14.
    extension NSImage: @unchecked @retroactive Sendable {}

    extension NSImage {
        static func make(_ picture: CGImage, scale: CGFloat) -> NSImage {
            NSImage(
                cgImage: picture,
                size: CGSize(width: CGFloat(picture.width) / scale, height: CGFloat(picture.height) / scale))
        }

        /// The bytes that the pixels take in memory.
        var decodedByteCount: Int {
            representations.reduce(0) { $0 + $1.pixelsWide * $1.pixelsHigh * 4 }
        }
    }
#endif
