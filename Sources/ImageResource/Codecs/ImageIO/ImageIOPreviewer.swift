#if canImport(ImageIO)
    import Foundation
    import ImageIO
    import Synchronizer

    /// Makes previews of one image while its bytes arrive, of whatever formats ImageIO decodes in part.
    final class ImagePreviewer: Previewer {
        private let sizing: ImageSizing
        private let source = CGImageSourceCreateIncremental(nil)

        init(sizing: ImageSizing) {
            self.sizing = sizing
        }

        func preview(of body: Data) -> PlatformImage? {
            CGImageSourceUpdateData(source, body as CFData, false)
            guard CGImageSourceGetStatusAtIndex(source, 0) == .statusIncomplete,
                let file = try? ImageIOSource(source, format: nil), let picture = try? file.picture(at: 0, sizing)
            else { return nil }
            return PlatformImage.make(picture, scale: sizing.scale)
        }
    }
#endif
