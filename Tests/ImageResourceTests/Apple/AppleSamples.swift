#if canImport(UIKit) || canImport(AppKit)
    import Foundation
    import Testing

    #if canImport(UIKit) && !os(watchOS)
        import UIKit
        typealias PlatformImageView = UIImageView
    #elseif canImport(AppKit)
        import AppKit
        typealias PlatformImageView = NSImageView
    #endif

    /// A sample that the stubs of Apple's modules can decode, too.
    enum AppleSamples {
        /// A PNG of 31 × 23 pixels.
        static func data() throws -> Data {
            let folder = try #require(Bundle.module.url(forResource: "Samples", withExtension: nil))
            return try Data(contentsOf: folder.appendingPathComponent("png-rgb-8.png"))
        }
    }
#endif
