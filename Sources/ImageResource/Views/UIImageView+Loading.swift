#if canImport(UIKit) && !os(watchOS)
    public import UIKit

    extension UIImageView: ImageDisplay {
        /// The view's `image`.
        public var displayedImage: UIImage? {
            get { image }
            set { image = newValue }
        }

        /// The size depends on the view's bounds, content mode and screen. An empty view, as before its first layout,
        /// requests no more than its window or a screen can show.
        public var imageSizing: ImageSizing { sizing(for: contentMode) }

        /// The loads of this view.
        public var imageLoads: ImageLoads { .associated(with: self) }

        /// Cross-fades to the image. Touches still reach the view.
        public func fade(to image: PlatformImage, duration: TimeInterval) {
            UIView.transition(
                with: self, duration: duration, options: [.transitionCrossDissolve, .allowUserInteraction],
                animations: { self.image = image }, completion: nil)
        }
    }

    /// A button shows the image in its normal state.
    extension UIButton: ImageDisplay {
        /// The image for the normal state.
        public var displayedImage: UIImage? {
            get { image(for: .normal) }
            set { setImage(newValue, for: .normal) }
        }

        /// An image fits into the button's bounds. An empty button, as before its first layout, requests no more than its
        /// window or a screen can show.
        public var imageSizing: ImageSizing { sizing(for: .scaleAspectFit) }

        /// The loads of this button.
        public var imageLoads: ImageLoads { .associated(with: self) }
    }

    extension UIView {
        fileprivate func sizing(for contentMode: ContentMode) -> ImageSizing {
            let space = bounds.isEmpty ? window?.bounds.size ?? Self.largestSpace : bounds.size
            let scale = traitCollection.displayScale
            switch contentMode {
            case .scaleAspectFit: return .space(space, contentMode: .aspectFit, scale: scale)
            case .scaleAspectFill, .scaleToFill, .redraw: return .space(space, contentMode: .aspectFill, scale: scale)
            default: return .stored  // The view does not scale it.
            }
        }

        #if os(visionOS)
            /// The size of a new window, because there is no screen.
            private static var largestSpace: CGSize { CGSize(width: 1280, height: 720) }
        #else
            private static var largestSpace: CGSize { UIScreen.main.bounds.size }
        #endif
    }
#endif
