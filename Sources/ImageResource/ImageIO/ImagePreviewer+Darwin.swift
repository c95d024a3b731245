#if canImport(ImageIO)
    import Foundation
    import ImageIO
    import Synchronizer

    /// Makes previews of one image while its bytes arrive, of whatever formats ImageIO decodes in part.
    final class ImagePreviewer: Previewer {
        private let sizing: ImageSizing
        private let source = CGImageSourceCreateIncremental(nil)
        /// What a preview takes, until this is dropped; if there is too little, nothing is shown rather than waited for.
        private var reservation: DecodeBudget.Reservation?

        init(sizing: ImageSizing) {
            self.sizing = sizing
        }

        func preview(of body: Data) -> PlatformImage? {
            CGImageSourceUpdateData(source, body as CFData, false)
            guard CGImageSourceGetStatusAtIndex(source, 0) == .statusIncomplete,
                let file = try? ImageIOSource(source, format: nil)
            else { return nil }
            reservation = reservation ?? DecodeBudget.previews.reserve(file.bytes(sizing))
            guard reservation != nil, let picture = try? file.picture(at: file.primary, sizing) else { return nil }
            return PlatformImage.make(picture, scale: sizing.scale)
        }
    }
#endif
