#if canImport(UIKit) || canImport(AppKit)
    #if canImport(UIKit)
        import UIKit
    #else
        import AppKit
    #endif

    extension ImageLoads {
        /// Its address tells the association from others; nothing is written there.
        private static let key = UnsafeRawPointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

        /// The loads of a view that cannot have a property of its own: they live as long as it does.
        static func associated(with view: AnyObject) -> ImageLoads {
            if let loads = objc_getAssociatedObject(view, key) as? ImageLoads { return loads }
            let loads = ImageLoads()
            objc_setAssociatedObject(view, key, loads, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
            return loads
        }
    }
#endif
