#if !canImport(ImageIO)
    /// The decoders that this package was built with traits for.
    enum OptionalCodecs {
        static func codec(_ format: ImageFormat) -> (any BitmapCodec.Type)? {
            #if AVIF
                if format == .avif { return AVIFDecoder.self }
            #endif
            #if HEIC
                if format == .heic { return HEICDecoder.self }
            #endif
            #if JXL
                if format == .jpegXL { return JPEGXLDecoder.self }
            #endif
            #if SVG
                if format == .svg { return SVGDecoder.self }
            #endif
            return nil
        }
    }
#endif
