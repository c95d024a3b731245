#if canImport(AppKit) && !canImport(UIKit)
    public import AppKit

    #if canImport(QuartzCore)
        import QuartzCore
    #endif

    extension NSImageView: ImageDisplay {
        /// The view's `image`.
        public var displayedImage: NSImage? {
            get { image }
            set { image = newValue }
        }

        /// The size depends on the view's bounds, scaling and screen. An empty view, as before its first layout, requests
        /// no more than its window or a screen can show.
        public var imageSizing: ImageSizing { sizing(for: imageScaling) }

        /// The loads of this view.
        public var imageLoads: ImageLoads { .associated(with: self) }

        /// Cross-fades to the image, in a layer that the view gets if it has none.
        public func fade(to image: PlatformImage, duration: TimeInterval) {
            wantsLayer = true
            let fade = CATransition()
            fade.type = .fade
            fade.duration = duration
            layer?.add(fade, forKey: "Synchronizer.fade")
            self.image = image
        }
    }

    extension NSButton: ImageDisplay {
        /// The button's `image`.
        public var displayedImage: NSImage? {
            get { image }
            set { image = newValue }
        }

        /// The size depends on the button's bounds, scaling and screen. An empty button, as before its first layout,
        /// requests no more than its window or a screen can show.
        public var imageSizing: ImageSizing { sizing(for: imageScaling) }

        /// The loads of this button.
        public var imageLoads: ImageLoads { .associated(with: self) }
    }

    extension NSView {
        fileprivate func sizing(for scaling: NSImageScaling) -> ImageSizing {
            let space = bounds.isEmpty ? window?.frame.size ?? NSScreen.main?.frame.size ?? bounds.size : bounds.size
            let scale = window?.backingScaleFactor ?? NSScreen.main?.backingScaleFactor ?? 2
            switch scaling {
            case .scaleProportionallyDown, .scaleProportionallyUpOrDown:
                return .space(space, contentMode: .aspectFit, scale: scale)
            case .scaleAxesIndependently: return .space(space, contentMode: .aspectFill, scale: scale)
            default: return .stored  // The view does not scale it.
            }
        }
    }
#endif
