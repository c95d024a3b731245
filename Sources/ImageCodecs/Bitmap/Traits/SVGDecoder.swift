#if SVG && canImport(CRSVG)
    internal import CRSVG
    import Foundation
    import SynchronizerSupport

    /// Draws SVG with librsvg at the wanted size. It loads nothing that the file refers to. Drawing cannot be cancelled.
    enum SVGDecoder: BitmapCodec {
        static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int { plan.output.bytes }

        /// The limit of cairo.
        static let longestSide = 32_767

        static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
            try ParseCancellation.check()
            let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard let handle = rsvg_handle_new_from_data(address, UInt(bytes.count), nil) else {
                throw ImageError.corrupt(.svg, "not well-formed, or too many references")
            }
            defer { g_object_unref(handle) }
            // CSS pixels per inch, as in `SVGHeader`. librsvg assumes 90.
            rsvg_handle_set_dpi(handle, 96)
            let declared = SVGHeader.size(bytes) ?? (Double(plan.stored.width), Double(plan.stored.height))
            let picture = try PixelBuffer(plan.output, cleared: true)
            try draw(handle, of: declared, into: picture)
            return BitmapImage(picture, scale: plan.scale, isOpaque: false)
        }

        /// The sides of the picture are rounded, so its aspect ratio can differ from the declared one. librsvg would leave borders
        /// if it had to fit the drawing into the picture. So the drawing is stretched.
        ///
        /// Cairo's ARGB32 is premultiplied BGRA on little-endian machines, which all of Swift's Linux platforms are.
        private static func draw(
            _ handle: UnsafeMutablePointer<RsvgHandle>, of declared: (width: Double, height: Double),
            into picture: PixelBuffer
        ) throws {
            let size = picture.size
            let surface = cairo_image_surface_create_for_data(
                picture.base.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(clamping: size.width),
                Int32(clamping: size.height), Int32(clamping: picture.bytesPerRow))
            defer { cairo_surface_destroy(surface) }
            guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else { throw ImageError.outOfMemory }
            let context = cairo_create(surface)
            defer { cairo_destroy(context) }
            cairo_scale(context, Double(size.width) / declared.width, Double(size.height) / declared.height)
            var viewport = RsvgRectangle(x: 0, y: 0, width: declared.width, height: declared.height)
            guard rsvg_handle_render_document(handle, context, &viewport, nil) != 0 else {
                throw ImageError.corrupt(.svg, "librsvg cannot draw it")
            }
            cairo_surface_flush(surface)
        }
    }
#endif
