@_exported import CoreGraphics
@_exported import DeveloperToolsSupport
@_exported import Foundation

public typealias NSSize = CGSize

open class NSGraphicsContext {}

open class NSImageRep {
    public struct HintKey: Hashable, Sendable {}

    public var pixelsWide: Int
    public var pixelsHigh: Int

    init(_ image: CGImage) {
        (pixelsWide, pixelsHigh) = (image.width, image.height)
    }
}

open class NSImage {
    public var size: NSSize
    public private(set) var representations: [NSImageRep]
    private let picture: CGImage

    public init(cgImage: CGImage, size: NSSize) {
        self.size = size
        picture = cgImage
        representations = [NSImageRep(cgImage)]
    }

    open func cgImage(
        forProposedRect proposedDestRect: UnsafeMutablePointer<CGRect>?, context referenceContext: NSGraphicsContext?,
        hints: [NSImageRep.HintKey: Any]?
    ) -> CGImage? {
        picture
    }
}

public enum NSImageScaling: UInt, Sendable {
    case scaleProportionallyDown = 0
    case scaleAxesIndependently = 1
    case scaleNone = 2
    case scaleProportionallyUpOrDown = 3
}

@MainActor
open class NSScreen {
    public class var main: NSScreen? { NSScreen() }
    public var frame: CGRect { CGRect(x: 0, y: 0, width: 9, height: 6) }
    public var backingScaleFactor: CGFloat { 2 }
}

@MainActor
open class NSWindow {
    public var frame: CGRect { CGRect(x: 0, y: 0, width: 9, height: 6) }
    public var backingScaleFactor: CGFloat { 2 }
}

// QuartzCore, which AppKit exports.

public struct CATransitionType: Hashable, Sendable {
    public static let fade = CATransitionType()
}

open class CATransition {
    public var type = CATransitionType.fade
    public var duration: TimeInterval = 0
    public init() {}
}

open class CALayer {
    fileprivate var fades: [TimeInterval] = []

    open func add(_ animation: CATransition, forKey key: String?) {
        fades.append(animation.duration)
    }
}

@MainActor
open class NSView {
    open var bounds: CGRect
    open var layer: CALayer?
    open var wantsLayer = false {
        didSet { if wantsLayer, layer == nil { layer = CALayer() } }
    }
    /// The durations of the transitions so far.
    public var stubFades: [TimeInterval] { layer?.fades ?? [] }
    public var window: NSWindow? { nil }
    nonisolated(unsafe) package var associatedObjects: [UnsafeRawPointer: Any] = [:]  // touched on the main actor only

    public init(frame frameRect: CGRect) {
        bounds = CGRect(origin: .zero, size: frameRect.size)
    }
}

extension NSView: StubAssociating {}

@MainActor
open class NSImageView: NSView {
    open var imageScaling = NSImageScaling.scaleProportionallyDown
    open var image: NSImage? {
        didSet { stubShown?(image) }
    }

    /// Told of what is shown, by which a test waits.
    public var stubShown: (@MainActor (NSImage?) -> Void)?
}

@MainActor
open class NSButton: NSView {
    open var imageScaling = NSImageScaling.scaleProportionallyDown
    open var image: NSImage? {
        didSet { stubShown?(image) }
    }

    /// Told of what is shown, by which a test waits.
    public var stubShown: (@MainActor (NSImage?) -> Void)?
}
