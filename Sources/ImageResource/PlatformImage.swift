#if canImport(UIKit)
    public import UIKit

    /// The platform's own image: `UIImage`.
    public typealias PlatformImage = UIImage
#elseif canImport(AppKit)
    public import AppKit

    /// The platform's own image: `NSImage`.
    public typealias PlatformImage = NSImage
#else
    /// The platform's own image: ``BitmapImage``, as there is neither UIKit nor AppKit.
    public typealias PlatformImage = BitmapImage
#endif
