#if canImport(AppKit) && !canImport(UIKit)
    public import AppKit

    extension NSImageView: ImageDisplay {
        /// By the view's bounds, how it scales, and the screen that it is on.
        public var imageSizing: ImageSizing {
            let scale = window?.backingScaleFactor ?? NSScreen.main?.backingScaleFactor ?? 2
            switch imageScaling {
            case .scaleProportionallyDown, .scaleProportionallyUpOrDown:
                return .space(bounds.size, contentMode: .aspectFit, scale: scale)
            case .scaleAxesIndependently: return .space(bounds.size, contentMode: .aspectFill, scale: scale)
            default: return .stored  // It is shown as large as it is.
            }
        }

        /// The loads of this view.
        public var imageLoads: ImageLoads { .associated(with: self) }
    }
#endif
