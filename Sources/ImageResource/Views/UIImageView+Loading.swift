#if canImport(UIKit) && !os(watchOS)
    public import UIKit

    extension UIImageView: ImageDisplay {
        /// By the view's bounds, its content mode, and the screen that it is on.
        public var imageSizing: ImageSizing {
            let scale = traitCollection.displayScale
            switch contentMode {
            case .scaleAspectFit: return .space(bounds.size, contentMode: .aspectFit, scale: scale)
            case .scaleAspectFill, .scaleToFill, .redraw:
                return .space(bounds.size, contentMode: .aspectFill, scale: scale)
            default: return .stored  // It is shown as large as it is.
            }
        }

        /// The loads of this view.
        public var imageLoads: ImageLoads { .associated(with: self) }
    }
#endif
