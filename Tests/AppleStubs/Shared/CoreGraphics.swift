@_exported import Foundation

/// As the real one a key of dictionaries, and not `Sendable`.
public struct CFString: Hashable, ExpressibleByStringLiteral {
    private let text: String

    public init(stringLiteral text: String) { self.text = text }
}

@available(*, unavailable)
extension CFString: Sendable {}

public typealias CFData = Data
public typealias CFMutableData = NSMutableData
public typealias CFDictionary = [CFString: Any]

public final class CGImage: Sendable {
    public let width: Int
    public let height: Int
    public let bytesPerRow: Int
    /// Pixels of four bytes; grey ones if none are given.
    fileprivate let stubPixels: [UInt8]

    public var bitsPerComponent: Int { 8 }
    public init(stubWidth width: Int, height: Int, pixels: [UInt8]? = nil) {
        self.width = width
        self.height = height
        bytesPerRow = width * 4
        stubPixels = pixels ?? [UInt8](repeating: 0x80, count: width * height * 4)
    }

    public var colorSpace: CGColorSpace? { CGColorSpace() }

    public func cropping(to rect: CGRect) -> CGImage? {
        let (x, y, width, height) = (Int(rect.minX), Int(rect.minY), Int(rect.width), Int(rect.height))
        guard x >= 0, y >= 0, x + width <= self.width, y + height <= self.height else { return nil }
        let rows = (y..<y + height).map { stubPixels[($0 * self.width + x) * 4..<($0 * self.width + x + width) * 4] }
        return CGImage(stubWidth: width, height: height, pixels: Array(rows.joined()))
    }
}

public enum CGColorRenderingIntent: Int32, Sendable {
    case defaultIntent, absoluteColorimetric, relativeColorimetric, perceptual, saturation
}

public final class CGColor: Sendable {
    public let components: [CGFloat]?

    public init(gray: CGFloat, alpha: CGFloat) { components = [gray, alpha] }

    public init?(colorSpace: CGColorSpace, components: UnsafePointer<CGFloat>) {
        self.components = (0..<4).map { components[$0] }
    }

    /// All colour spaces of the stubs are the same.
    public func converted(to: CGColorSpace, intent: CGColorRenderingIntent, options: CFDictionary?) -> CGColor? { self }
}

public enum CGColorSpaceModel: Int32, Sendable {
    case unknown = -1
    case monochrome, rgb, cmyk, lab, deviceN, indexed, pattern, xyz
}

public final class CGColorSpace: Sendable, Equatable {
    /// All colour spaces of the stubs are the same.
    public static func == (one: CGColorSpace, other: CGColorSpace) -> Bool { true }
    public static var sRGB: CFString { "kCGColorSpaceSRGB" }
    fileprivate init() {}
    public init?(name: CFString) {}
    public init?(iccData: CFData) {}
    public func copyICCData() -> CFData? { Data("profile".utf8) }
    public var model: CGColorSpaceModel { .rgb }
    public var supportsOutput: Bool { true }
}

public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { CGColorSpace() }

public enum CGImageAlphaInfo: UInt32, Sendable {
    case none, premultipliedLast, premultipliedFirst, last, first, noneSkipLast, noneSkipFirst, alphaOnly
}

public struct CGBitmapInfo: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let byteOrder32Little = CGBitmapInfo(rawValue: 2 << 12)
}

public enum CGInterpolationQuality: Int32, Sendable {
    case `default`, none, low, medium, high
}

public enum CGBlendMode: Int32, Sendable {
    case normal = 0
    case copy = 17
}

public final class CGContext {
    public let width: Int
    public let height: Int
    public let bytesPerRow: Int
    public let data: UnsafeMutableRawPointer?
    public var colorSpace: CGColorSpace? { CGColorSpace() }
    public var interpolationQuality = CGInterpolationQuality.default

    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
        space: CGColorSpace, bitmapInfo: UInt32
    ) {
        (self.width, self.height) = (width, height)
        // The real one aligns rows, too.
        self.bytesPerRow = (width * 4 + 63) / 64 * 64
        self.data = calloc(self.bytesPerRow, max(height, 1))
    }

    deinit {
        free(data)
    }

    public func setFillColor(_ color: CGColor) {}
    public func fill(_ rect: CGRect) {}
    public func saveGState() {}
    public func restoreGState() {}
    public func clip(to rect: CGRect) {}
    public func setBlendMode(_ mode: CGBlendMode) {}
    public func translateBy(x: CGFloat, y: CGFloat) {}
    public func scaleBy(x: CGFloat, y: CGFloat) {}

    /// Takes the nearest pixels, and only draws over the whole bitmap.
    public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {
        guard let data, rect == CGRect(x: 0, y: 0, width: width, height: height) else { return }
        for y in 0..<height {
            for x in 0..<width {
                let source = (y * image.height / height * image.width + x * image.width / width) * 4
                for channel in 0..<4 {
                    data.storeBytes(
                        of: image.stubPixels[source + channel], toByteOffset: y * bytesPerRow + x * 4 + channel,
                        as: UInt8.self)
                }
            }
        }
    }

    public func makeImage() -> CGImage? {
        guard let data else { return nil }
        let rows = (0..<height).map { UnsafeRawBufferPointer(start: data + $0 * bytesPerRow, count: width * 4) }
        return CGImage(stubWidth: width, height: height, pixels: Array(rows.joined()))
    }
}

extension CGImage {
    /// The four bytes of a pixel, for tests.
    public func stubPixel(x: Int, y: Int) -> [UInt8] {
        Array(stubPixels[(y * width + x) * 4..<(y * width + x + 1) * 4])
    }
}
