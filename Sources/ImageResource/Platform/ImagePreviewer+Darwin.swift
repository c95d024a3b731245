#if canImport(ImageIO)
    import Foundation
    import ImageCodecs
    import ImageIO
    import Synchronizer

    /// Makes previews of an image while its bytes arrive, in all formats that ImageIO decodes in part.
    final class ImagePreviewer: Previewer {
        private let sizing: ImageSizing
        private let source = CGImageSourceCreateIncremental(nil)
        /// The bytes of the budget that a preview takes until this object is deallocated. If too few are left, there is none.
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
            guard reservation != nil, let picture = try? file.picture(at: file.primary, sizing: sizing) else {
                return nil
            }
            return PlatformImage.make(picture, scale: sizing.scale)
        }
    }
#endif
