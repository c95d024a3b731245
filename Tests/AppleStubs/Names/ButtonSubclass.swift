// Apps have subclasses of buttons with a property `image`, so this package adds none of that name.
#if canImport(UIKit)
    import ImageResource
    import UIKit

    final class Avatar: UIButton {
        var image: UIImage?
    }

    @MainActor
    func show(_ url: URL, in avatar: Avatar) {
        avatar.loadImage(url)
        avatar.displayedImage = avatar.image
    }
#endif
