/// The decoders of the traits that this package was built with.
enum OptionalCodecs {
    static func codec(_ format: ImageFormat) -> (any BitmapCodec.Type)? {
        #if AVIF && canImport(CAVIF)
            if format == .avif { return AVIFDecoder.self }
        #elseif AVIF
            #warning("The trait AVIF does nothing: libavif-dev is not installed")
        #endif
        #if HEIC && canImport(CHEIF)
            if format == .heic { return HEICDecoder.self }
        #elseif HEIC
            #warning("The trait HEIC does nothing: libheif-dev is not installed")
        #endif
        #if JXL && canImport(CJXL)
            if format == .jpegXL { return JPEGXLDecoder.self }
        #elseif JXL
            #warning("The trait JXL does nothing: libjxl-dev is not installed")
        #endif
        #if SVG && canImport(CRSVG)
            if format == .svg { return SVGDecoder.self }
        #elseif SVG
            #warning("The trait SVG does nothing: librsvg2-dev is not installed")
        #endif
        return nil
    }
}
