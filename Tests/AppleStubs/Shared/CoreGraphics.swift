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

    public init(stubWidth width: Int, height: Int) {
        self.width = width
        self.height = height
        bytesPerRow = width * 4
    }
}

// What the demo draws with.

public final class CGColor: Sendable {
    public init(gray: CGFloat, alpha: CGFloat) {}
}

public final class CGColorSpace: Sendable {}

public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { CGColorSpace() }

public enum CGImageAlphaInfo: UInt32, Sendable {
    case none, premultipliedLast, premultipliedFirst, last, first, noneSkipLast, noneSkipFirst, alphaOnly
}

public final class CGContext {
    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
        space: CGColorSpace, bitmapInfo: UInt32
    ) {}
    public func setFillColor(_ color: CGColor) {}
    public func fill(_ rect: CGRect) {}
    public func saveGState() {}
    public func restoreGState() {}
    public func clip(to rect: CGRect) {}
    public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {}
    public func makeImage() -> CGImage? { nil }
}
