#if canImport(AppKit) && !canImport(UIKit)
    import AppKit

    // This package creates an image once, from decoded pixels, and never changes it. The SDK of macOS 14 says that `NSImage` is
    // not `Sendable`, and later SDKs say that it is. This conformance compiles with all of them, at most with a warning.
    extension NSImage: @unchecked @retroactive Sendable {}

    extension NSImage {
        static func make(_ picture: CGImage, scale: CGFloat) -> NSImage {
            NSImage(
                cgImage: picture,
                size: CGSize(width: CGFloat(picture.width) / scale, height: CGFloat(picture.height) / scale))
        }

        /// The bytes that the pixels take in memory.
        var decodedByteCount: Int {
            cgImage(forProposedRect: nil, context: nil, hints: nil).map(\.byteCount)
                ?? representations.reduce(0) { $0 + $1.pixelsWide * $1.pixelsHigh * 4 }
        }
    }
#endif
