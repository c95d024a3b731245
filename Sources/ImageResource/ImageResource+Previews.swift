import Synchronizer

/// Of JPEG and WebP something is shown while the bytes arrive: see `Synchronizer.updates(of:)`.
extension ImageResource: ProgressiveResource {
    package func makePreviewer() -> any Previewer<PlatformImage> {
        ImagePreviewer(sizing: sizing)
    }
}
