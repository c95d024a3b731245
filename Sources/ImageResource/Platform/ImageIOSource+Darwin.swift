#if canImport(ImageIO)
    import CoreGraphics
    import Foundation
    import ImageCodecs
    import ImageIO
    import Synchronizer

    /// A file as ImageIO sees it, within the limits of ``ImageDecoding``.
    ///
    /// Nothing is decoded until a picture is requested. Then it is decoded at once, not when it is first drawn.
    struct ImageIOSource: @unchecked Sendable {  // The source is immutable, and ImageIO is thread-safe.
        private let source: CGImageSource
        /// The format that errors name.
        private let format: ImageFormat?
        /// The picture that represents the file. A file may have several, and this need not be the first.
        let primary: Int
        /// The upright size of that picture.
        let uprightSize: PixelSize

        init(_ data: Data) throws {
            let options = [kCGImageSourceShouldCache: false] as [CFString: Any]
            guard let source = CGImageSourceCreateWithData(data as CFData, options as CFDictionary) else {
                throw ImageError.unknownFormat
            }
            try self.init(source, format: ImageFormat(data))
            if CGImageSourceGetStatusAtIndex(source, primary) != .statusComplete {
                throw corrupt("the data ends too early")
            }
        }

        /// - Parameter format: The format that errors name.
        init(_ source: CGImageSource, format: ImageFormat?) throws {
            guard CGImageSourceGetCount(source) > 0 else {
                throw format.map { ImageError.corrupt($0, "no picture") } ?? ImageError.unknownFormat
            }
            let primary = CGImageSourceGetPrimaryImageIndex(source)
            guard let size = Self.size(of: source, at: primary) else {
                throw format.map { ImageError.corrupt($0, "no size in the header") } ?? ImageError.unknownFormat
            }
            let limit = ImageDecoding.maximumPixelCount
            guard size.area <= limit else {
                throw ImageError.tooManyPixels(width: size.width, height: size.height, limit: limit)
            }
            self.source = source
            self.format = format
            self.primary = primary
            uprightSize = size
        }

        private func corrupt(_ reason: String) -> ImageError {
            format.map { .corrupt($0, reason) } ?? .unknownFormat
        }

        private static func size(of source: CGImageSource, at index: Int) -> PixelSize? {
            let properties = values(CGImageSourceCopyPropertiesAtIndex(source, index, nil))
            guard let width = properties[kCGImagePropertyPixelWidth] as? Int, width > 0,
                let height = properties[kCGImagePropertyPixelHeight] as? Int, height > 0
            else { return nil }
            let orientation = ImageOrientation(rawValue: properties[kCGImagePropertyOrientation] as? Int ?? 1) ?? .up
            return orientation.upright(PixelSize(width: width, height: height))
        }

        private static func values(_ dictionary: Any?) -> [CFString: Any] {
            dictionary as? [CFString: Any] ?? [:]
        }

        var count: Int { CGImageSourceGetCount(source) }

        func properties(at index: Int) -> [CFString: Any] {
            Self.values(CGImageSourceCopyPropertiesAtIndex(source, index, nil))
        }

        var fileProperties: [CFString: Any] { Self.values(CGImageSourceCopyProperties(source, nil)) }

        /// Decodes a picture, upright, at the requested size.
        func picture(at index: Int, sizing: ImageSizing) throws -> CGImage {
            try ParseCancellation.check()
            let size = affordable(sizing.size(for: uprightSize))
            return try DecodeBudget.shared.with(size.bytes) {
                guard let picture = picture(at: index, longerSide: max(size.width, size.height)) else {
                    throw corrupt("ImageIO cannot decode it")
                }
                return picture
            }
        }

        /// In ImageIO's API, a picture is called a thumbnail if ImageIO rotates and scales it while decoding.
        private func picture(at index: Int, longerSide: Int) -> CGImage? {
            let options =
                [
                    kCGImageSourceCreateThumbnailFromImageAlways: true,
                    kCGImageSourceCreateThumbnailWithTransform: true,
                    kCGImageSourceShouldCacheImmediately: true,
                    kCGImageSourceThumbnailMaxPixelSize: longerSide,
                ] as [CFString: Any]
            return CGImageSourceCreateThumbnailAtIndex(source, index, options as CFDictionary)
        }

        /// The bytes of a picture at the size at which it would be decoded.
        func bytes(_ sizing: ImageSizing) -> Int { affordable(sizing.size(for: uprightSize)).bytes }

        /// The size, or the largest size with the same aspect ratio that the budget allows.
        private func affordable(_ size: PixelSize) -> PixelSize {
            let limit = ImageDecoding.memoryBudget
            guard size.bytes > limit else { return size }
            return size.scaled(by: (Double(max(limit, 4)) / Double(size.bytes)).squareRoot() * 0.999)
        }
    }
#endif
