#if canImport(UIKit) || canImport(AppKit)
    #if canImport(UIKit)
        import UIKit
    #else
        import AppKit
    #endif

    extension ImageLoads {
        /// Its address is the key of the association. Nothing is written there.
        private static let key = UnsafeRawPointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

        /// The loads of a view that cannot have stored properties. They live as long as the view.
        static func associated(with view: AnyObject) -> ImageLoads {
            if let loads = objc_getAssociatedObject(view, key) as? ImageLoads { return loads }
            let loads = ImageLoads()
            objc_setAssociatedObject(view, key, loads, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
            return loads
        }
    }
#endif
