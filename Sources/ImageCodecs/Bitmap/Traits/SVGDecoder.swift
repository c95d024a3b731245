#if SVG && canImport(CRSVG) && !canImport(ImageIO)
    internal import CRSVG
    import Foundation
    import Synchronizer

    /// SVG by librsvg, drawn at the size that is wanted. It loads nothing that the file refers to, and cannot be left
    /// while it draws.
    enum SVGDecoder: BitmapCodec {
        static func workingBytes(_ bytes: ByteReader, _ plan: DecodePlan) -> Int { plan.output.bytes }

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage {
            try ParseCancellation.check()
            let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard let handle = rsvg_handle_new_from_data(address, UInt(bytes.count), nil) else {
                throw ImageError.damaged(.svg, "it is not well-formed, or refers to too much")
            }
            defer { g_object_unref(handle) }
            let picture = try PixelBuffer(plan.output, cleared: true)
            try draw(handle, picture)
            return BitmapImage(picture, scale: plan.scale, isOpaque: false)
        }

        /// Cairo's ARGB32 is premultiplied BGRA on little-endian machines, which Swift's are on Linux.
        private static func draw(_ handle: UnsafeMutablePointer<RsvgHandle>, _ picture: PixelBuffer) throws {
            let size = picture.size
            let surface = cairo_image_surface_create_for_data(
                picture.base.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(clamping: size.width),
                Int32(clamping: size.height), Int32(clamping: picture.bytesPerRow))
            defer { cairo_surface_destroy(surface) }
            guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else { throw ImageError.outOfMemory }
            let context = cairo_create(surface)
            defer { cairo_destroy(context) }
            var viewport = RsvgRectangle(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
            guard rsvg_handle_render_document(handle, context, &viewport, nil) != 0 else {
                throw ImageError.damaged(.svg, "it cannot be drawn")
            }
            cairo_surface_flush(surface)
        }
    }
#endif
