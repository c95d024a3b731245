#if !canImport(ImageIO)
    import Foundation

    @testable import ImageCodecs
    @testable import ImageResource

    /// Compares pictures.
    enum Pixels {
        /// The peak signal-to-noise ratio of one picture against another, over the channels that they have (alpha does not
        /// count where both are opaque); infinite if they are equal, and less than nothing if their sizes differ.
        static func decibels(_ image: BitmapImage, _ reference: BitmapImage) -> Double {
            guard image.width == reference.width, image.height == reference.height else { return -.infinity }
            let squares = image.withUnsafeBytes { one in
                reference.withUnsafeBytes { other in
                    zip(one, other).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
                }
            }
            guard squares > 0 else { return .infinity }
            let channels = image.isOpaque && reference.isOpaque ? 3 : 4
            return 10 * log10(255 * 255 * Double(image.width * image.height * channels) / Double(squares))
        }
    }
#endif
