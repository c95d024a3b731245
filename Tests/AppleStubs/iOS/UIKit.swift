@_exported import CoreGraphics
@_exported import DeveloperToolsSupport
@_exported import Foundation

open class UIImage: @unchecked Sendable {  // as in the SDK: immutable
    public enum Orientation: Int, Sendable {
        case up, down, left, right, upMirrored, downMirrored, leftMirrored, rightMirrored
    }

    public let cgImage: CGImage?
    public let scale: CGFloat
    public let imageOrientation: Orientation

    public init(cgImage: CGImage, scale: CGFloat, orientation: UIImage.Orientation) {
        self.cgImage = cgImage
        self.scale = scale
        imageOrientation = orientation
    }

    public func draw(in rect: CGRect) {}

    public var size: CGSize {
        CGSize(width: CGFloat(cgImage?.width ?? 0) / scale, height: CGFloat(cgImage?.height ?? 0) / scale)
    }
}

public func UIGraphicsPushContext(_ context: CGContext) {}
public func UIGraphicsPopContext() {}

@MainActor
open class UIApplication {
    nonisolated public class var didReceiveMemoryWarningNotification: NSNotification.Name {
        NSNotification.Name("UIApplicationDidReceiveMemoryWarningNotification")
    }
}

@MainActor
open class UITraitCollection {
    public var displayScale: CGFloat { 3 }
}

@MainActor
open class UIScreen {
    public class var main: UIScreen { UIScreen() }
    public var bounds: CGRect { CGRect(x: 0, y: 0, width: 9, height: 6) }
}

@MainActor
open class UIView {
    public enum ContentMode: Int, Sendable {
        case scaleToFill, scaleAspectFit, scaleAspectFill, redraw, center, top, bottom, left, right, topLeft, topRight,
            bottomLeft, bottomRight
    }

    public struct AnimationOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let allowUserInteraction = AnimationOptions(rawValue: 1 << 1)
        public static let transitionCrossDissolve = AnimationOptions(rawValue: 5 << 20)
    }

    public class func transition(
        with view: UIView, duration: TimeInterval, options: AnimationOptions = [], animations: (() -> Void)?,
        completion: ((Bool) -> Void)? = nil
    ) {
        view.stubFades.append(duration)
        animations?()
        completion?(true)
    }

    /// The durations of the transitions so far.
    public private(set) var stubFades: [TimeInterval] = []

    open var bounds: CGRect
    public var window: UIWindow? { nil }
    open var contentMode = ContentMode.scaleToFill
    public let traitCollection = UITraitCollection()
    nonisolated(unsafe) package var associatedObjects: [UnsafeRawPointer: Any] = [:]  // touched on the main actor only

    public init(frame: CGRect) {
        bounds = CGRect(origin: .zero, size: frame.size)
    }

    @available(*, unavailable)
    public required init?(coder: NSCoder) { nil }

    public func addSubview(_ view: UIView) {}
}

extension UIView: StubAssociating {}

@MainActor
open class UIWindow: UIView {}

@MainActor
open class UIImageView: UIView {
    open var image: UIImage? {
        didSet { stubShown?(image) }
    }

    /// Told of what is shown, by which a test waits.
    public var stubShown: (@MainActor (UIImage?) -> Void)?
}

@MainActor
open class UIButton: UIView {
    public struct State: Hashable, Sendable {
        public static let normal = State()
    }

    private var shown: UIImage?

    open func image(for state: State) -> UIImage? { shown }

    open func setImage(_ image: UIImage?, for state: State) {
        shown = image
        stubShown?(image)
    }

    /// Told of what is shown, by which a test waits.
    public var stubShown: (@MainActor (UIImage?) -> Void)?
}

// Lists, for prefetching and for the samples of the documentation.

@MainActor
open class UICollectionViewCell: UIView {
    public let contentView = UIView(frame: .zero)
    open func prepareForReuse() {}
}

@MainActor
open class UICollectionView: UIView {
    public weak var prefetchDataSource: (any UICollectionViewDataSourcePrefetching)?
}

@MainActor
open class UITableView: UIView {
    public weak var prefetchDataSource: (any UITableViewDataSourcePrefetching)?
}

@MainActor
public protocol UITableViewDataSourcePrefetching: AnyObject {
    func tableView(_ tableView: UITableView, prefetchRowsAt indexPaths: [IndexPath])
    func tableView(_ tableView: UITableView, cancelPrefetchingForRowsAt indexPaths: [IndexPath])
}

@MainActor
public protocol UICollectionViewDataSourcePrefetching: AnyObject {
    func collectionView(_ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath])
    func collectionView(_ collectionView: UICollectionView, cancelPrefetchingForItemsAt indexPaths: [IndexPath])
}

extension IndexPath {
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
    public var item: Int { self[1] }
    public var row: Int { self[1] }
}
