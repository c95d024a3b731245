#if canImport(ImageIO)
    import CoreGraphics
    import Foundation
    import ImageIO
    import ImageResource

    extension ContactSheet {
        /// The picture; nil if there is no image, or the system cannot draw.
        func png() -> Data? {
            guard !images.isEmpty, let context = canvas() else { return nil }
            context.setFillColor(CGColor(gray: 1, alpha: 1))
            context.fill(CGRect(x: 0, y: 0, width: width, height: height))
            for (index, image) in images.enumerated() {
                if let picture = picture(image) { draw(picture, at: corner(of: index), in: context) }
            }
            return context.makeImage().flatMap(encoded)
        }

        private func canvas() -> CGContext? {
            CGContext(
                data: nil, width: width, height: height, bitsPerComponent: 8, bytesPerRow: 0,
                space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)
        }

        /// Fills the square at a corner with a picture, and clips the rest. In Core Graphics, y grows upwards.
        private func draw(_ picture: CGImage, at corner: (x: Int, y: Int), in context: CGContext) {
            let side = CGFloat(Self.side)
            let square = CGRect(x: CGFloat(corner.x), y: CGFloat(height - corner.y) - side, width: side, height: side)
            let scale = max(side / CGFloat(picture.width), side / CGFloat(picture.height))
            let size = CGSize(width: CGFloat(picture.width) * scale, height: CGFloat(picture.height) * scale)
            context.saveGState()
            context.clip(to: square)
            context.draw(
                picture, in: square.insetBy(dx: (side - size.width) / 2, dy: (side - size.height) / 2))
            context.restoreGState()
        }

        private func picture(_ image: PlatformImage) -> CGImage? {
            #if canImport(UIKit)
                image.cgImage
            #else
                image.cgImage(forProposedRect: nil, context: nil, hints: nil)
            #endif
        }

        private func encoded(_ image: CGImage) -> Data? {
            let data = NSMutableData()
            guard let target = CGImageDestinationCreateWithData(data as CFMutableData, "public.png" as CFString, 1, nil)
            else {
                return nil
            }
            CGImageDestinationAddImage(target, image, nil)
            return CGImageDestinationFinalize(target) ? Data(referencing: data) : nil
        }
    }
#endif
