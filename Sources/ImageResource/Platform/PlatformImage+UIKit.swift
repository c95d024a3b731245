#if canImport(UIKit)
    import UIKit

    extension UIImage {
        static func make(_ picture: CGImage, scale: CGFloat) -> UIImage {
            UIImage(cgImage: picture, scale: scale, orientation: .up)
        }

        /// The bytes that the pixels take in memory.
        var decodedByteCount: Int {
            cgImage.map(\.byteCount) ?? Int(min(size.width * scale * size.height * scale * 4, 1e9))
        }
    }
#endif
