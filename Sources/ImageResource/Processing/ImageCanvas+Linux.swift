#if !canImport(ImageIO)
    import ImageCodecs

    /// An image that is being processed.
    typealias ImageCanvas = BitmapCanvas

    extension BitmapCanvas {
        /// A colour in the colour space of the pixels.
        func color(_ color: ImageColor) -> PixelColor {
            PixelColor(
                red: Double(color.red), green: Double(color.green), blue: Double(color.blue), alpha: Double(color.alpha)
            )
        }
    }
#endif
