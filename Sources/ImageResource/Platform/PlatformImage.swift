public import Foundation
public import ImageCodecs

#if canImport(UIKit)
    public import UIKit

    /// The platform's own image: `UIImage`.
    public typealias PlatformImage = UIImage
#elseif canImport(AppKit)
    public import AppKit

    /// The platform's own image: `NSImage`.
    public typealias PlatformImage = NSImage
#else
    /// The platform's own image: ``BitmapImage`` where there is neither UIKit nor AppKit.
    public typealias PlatformImage = BitmapImage
#endif

extension ImageDecoding {
    /// Decodes an image on this thread, upright. An animation gives its first frame.
    ///
    /// The call may wait for other decodes to end; see ``memoryBudget``.
    /// - Throws: ``ImageError``.
    public static func image(from data: Data, sizing: ImageSizing = .stored) throws -> PlatformImage {
        try PlatformImage.decode(data, sizing: sizing)
    }
}
