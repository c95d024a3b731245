#if canImport(ImageIO)
    import CoreGraphics
    import ImageCodecs

    #if canImport(UIKit)
        import UIKit
    #else
        import AppKit
    #endif

    /// An image that is being processed: a bitmap of 8 bits per channel, in the image's colour space if that is RGB, otherwise
    /// in sRGB.
    struct ImageCanvas {
        /// The number of pixels per point.
        let scale: Double
        /// Whether the bitmap has the image's pixels unchanged: the image has 8 bits per channel, and the same colour space.
        let isExact: Bool
        private var context: CGContext

        init(_ image: PlatformImage) throws {
            guard let picture = image.processedPicture,
                let context = Self.context(like: picture, size: picture.pixelSize)
            else { throw ImageError.outOfMemory }
            scale = image.pixelsPerPoint
            isExact = picture.bitsPerComponent == 8 && picture.colorSpace == context.colorSpace
            self.context = context
            Self.draw(picture, into: context, area: CGRect(x: 0, y: 0, width: picture.width, height: picture.height))
        }

        /// BGRA in memory.
        private static let layout =
            CGImageAlphaInfo.premultipliedFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue

        private static func context(like picture: CGImage, size: PixelSize) -> CGContext? {
            let own = picture.colorSpace.flatMap { $0.model == .rgb && $0.supportsOutput ? $0 : nil }
            // Some colour spaces, such as extended ones, may have no bitmaps of 8 bits.
            return [own, CGColorSpace(name: CGColorSpace.sRGB)].lazy.compactMap { $0 }.compactMap { space in
                CGContext(
                    data: nil, width: size.width, height: size.height, bitsPerComponent: 8, bytesPerRow: 0,
                    space: space, bitmapInfo: Self.layout)
            }.first
        }

        private static func draw(_ picture: CGImage, into context: CGContext, area: CGRect) {
            context.interpolationQuality = .high
            context.setBlendMode(.copy)
            context.draw(picture, in: area)
        }

        /// Creates an image from rows of premultiplied BGRA without gaps; nil if `profile` is not a colour profile.
        init?(_ size: PixelSize, profile: Data, scale: Double, rows: UnsafeRawBufferPointer) {
            guard let space = CGColorSpace(iccData: profile as CFData),
                let context = CGContext(
                    data: nil, width: size.width, height: size.height, bitsPerComponent: 8, bytesPerRow: 0,
                    space: space, bitmapInfo: Self.layout),
                let pixels = context.data, let base = rows.baseAddress
            else { return nil }
            for row in 0..<size.height {
                (pixels + row * context.bytesPerRow).copyMemory(
                    from: base + row * size.width * 4, byteCount: size.width * 4)
            }
            (self.scale, isExact) = (scale, true)
            self.context = context
        }

        /// The ICC profile of the colour space; nil if it has none.
        var profile: Data? { context.colorSpace?.copyICCData() as Data? }

        var size: PixelSize { PixelSize(width: context.width, height: context.height) }

        /// The image with the changes so far.
        var image: PlatformImage {
            get throws {
                guard let picture = context.makeImage() else { throw ImageError.outOfMemory }
                return PlatformImage.make(picture, scale: scale)
            }
        }

        /// Changes pixels in place. An image that was made before keeps its pixels.
        mutating func edit(staysOpaque: Bool = true, _ body: (PixelCanvas) throws -> Void) throws {
            guard let pixels = context.data else { throw ImageError.outOfMemory }
            try body(PixelCanvas(base: pixels, size: size, bytesPerRow: context.bytesPerRow))
        }

        /// Replaces the picture by a part of it, at a size that is not larger. `filter` is ignored: CoreGraphics has its own.
        mutating func crop(_ crop: FillingCrop, filter: ImageSizing.Filter) throws {
            guard crop.area.size != size || crop.size != size else { return }
            let area = CGRect(
                x: crop.area.x, y: crop.area.y, width: crop.area.size.width, height: crop.area.size.height)
            guard let part = context.makeImage()?.cropping(to: area),
                let next = Self.context(like: part, size: crop.size)
            else { throw ImageError.outOfMemory }
            Self.draw(part, into: next, area: CGRect(x: 0, y: 0, width: crop.size.width, height: crop.size.height))
            context = next
        }

        /// A colour in the colour space of the pixels.
        func color(_ color: ImageColor) -> PixelColor {
            let parts = [color.red, color.green, color.blue, color.alpha]
            let converted = CGColorSpace(name: CGColorSpace.sRGB)
                .flatMap { CGColor(colorSpace: $0, components: parts) }
                .flatMap { stored in
                    context.colorSpace.flatMap { stored.converted(to: $0, intent: .defaultIntent, options: nil) }
                }
            let all = (converted?.components.flatMap { $0.count == 4 ? $0 : nil } ?? parts).map { Double($0) }
            return PixelColor(red: all[0], green: all[1], blue: all[2], alpha: all[3])
        }
    }

    extension CGImage {
        fileprivate var pixelSize: PixelSize { PixelSize(width: width, height: height) }
    }

    extension ImageColor {
        /// Creates a colour from one of CoreGraphics, which is converted to sRGB. Returns nil for patterns.
        public init?(_ color: CGColor) {
            guard let space = CGColorSpace(name: CGColorSpace.sRGB),
                let parts = color.converted(to: space, intent: .defaultIntent, options: nil)?.components,
                parts.count == 4
            else { return nil }
            self.init(red: parts[0], green: parts[1], blue: parts[2], alpha: parts[3])
        }
    }

    #if canImport(UIKit)
        extension UIImage {
            fileprivate var pixelsPerPoint: Double { Double(scale) }

            /// The picture, upright. Images that this package has not decoded may be rotated, or may have no `cgImage`.
            fileprivate var processedPicture: CGImage? {
                if let cgImage, imageOrientation == .up { return cgImage }
                let (width, height) = (Int((size.width * scale).rounded()), Int((size.height * scale).rounded()))
                guard width > 0, height > 0, let space = CGColorSpace(name: CGColorSpace.sRGB),
                    let context = CGContext(
                        data: nil, width: width, height: height, bitsPerComponent: 8, bytesPerRow: 0, space: space,
                        bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
                else { return nil }
                // UIKit's coordinates begin at the top.
                context.translateBy(x: 0, y: CGFloat(height))
                context.scaleBy(x: 1, y: -1)
                UIGraphicsPushContext(context)
                draw(in: CGRect(x: 0, y: 0, width: width, height: height))
                UIGraphicsPopContext()
                return context.makeImage()
            }
        }
    #else
        extension NSImage {
            fileprivate var pixelsPerPoint: Double {
                let width = representations.map(\.pixelsWide).max() ?? 0
                return width > 0 && size.width > 0 ? Double(width) / Double(size.width) : 1
            }

            fileprivate var processedPicture: CGImage? {
                cgImage(forProposedRect: nil, context: nil, hints: nil)
            }
        }
    #endif
#endif
