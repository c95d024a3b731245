#if !canImport(ImageIO)
    import Foundation
    import ImageCodecs

    extension BitmapImage {
        static func make(storedForm data: Data) -> BitmapImage? { BitmapImage(storedForm: data) }
    }
#endif
