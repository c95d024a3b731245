#if HEIC && canImport(CHEIF)
    internal import CHEIF
    import Foundation
    import SynchronizerSupport

    /// Decodes HEIC with libheif. A decode in progress cannot be cancelled.
    final class HEICDecoder: BitmapCodec {
        private let context: OpaquePointer
        private var handle: OpaquePointer?
        private var image: OpaquePointer?

        private init(_ bytes: ByteReader) throws {
            guard let context = heif_context_alloc() else { throw ImageError.outOfMemory }
            self.context = context
            heif_context_set_max_decoding_threads(context, 0)
            try check(heif_context_read_from_memory_without_copy(context, bytes.bytes.baseAddress, bytes.count, nil))
            try check(heif_context_get_primary_image_handle(context, &handle))
        }

        deinit {
            if let image { heif_image_release(image) }
            if let handle { heif_image_handle_release(handle) }
            heif_context_free(context)
        }

        static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int {
            HEICPictures(bytes)?.workingBytes ?? 0
        }

        /// The header does not tell how much libheif and libde265 will allocate. `HEICPictures` computes it; files for which
        /// it can't are refused.
        static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
            guard let pictures = HEICPictures(bytes) else {
                throw ImageError.corrupt(.heic, "only HEVC still pictures and grids of them are supported")
            }
            let isGrey = pictures.isGrey
            guard let plain = pictures.items.withoutTransformations(bytes) else {
                return try HEICDecoder(bytes).decode(plan, isGrey: isGrey)
            }
            return try plain.withUnsafeBytes { try HEICDecoder(ByteReader($0)).decode(plan, isGrey: isGrey) }
        }

        private func decode(_ plan: DecodePlan, isGrey: Bool) throws -> BitmapImage {
            try ParseCancellation.check()
            try decodeImage()
            try ParseCancellation.check()
            let isOpaque = heif_image_handle_has_alpha_channel(handle) == 0
            let picture = try pixels(plan.coded)
            if !isOpaque {
                let isMultiplied = heif_image_handle_is_premultiplied_alpha(handle) != 0
                try isMultiplied ? Premultiplication.limit(picture) : Premultiplication.multiply(picture)
            }
            return try PictureAssembler.assemble(
                plan, whole: picture, colours: colours(isGrey: isGrey), isOpaque: isOpaque)
        }

        /// libheif must not crop or rotate: `PictureAssembler` does that, as for every other format. This option does not affect
        /// the alpha picture, so files with alpha come here without transformations.
        private func decodeImage() throws {
            let options = heif_decoding_options_alloc()
            defer { heif_decoding_options_free(options) }
            options?.pointee.ignore_transformations = 1
            try check(
                heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, options))
        }

        private func pixels(_ size: PixelSize) throws -> PixelBuffer {
            var stride: Int32 = 0
            guard Int(heif_image_get_width(image, heif_channel_interleaved)) == size.width,
                Int(heif_image_get_height(image, heif_channel_interleaved)) == size.height,
                let plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride),
                Int(stride) >= size.width * 4
            else { throw ImageError.corrupt(.heic, "the header and the stream have different sizes") }
            let picture = try PixelBuffer(size)
            for row in 0..<size.height {
                PixelOrder.swapRedAndBlue(plane + row * Int(stride), into: picture.row(row), count: size.width)
            }
            return picture
        }

        private func colours(isGrey: Bool) -> ColorTransform? {
            let profile = profile()
            if !profile.isEmpty {
                return profile.withUnsafeBytes { ColorTransform.from(ByteReader($0), isGrey: isGrey) }
            }
            var points: UnsafeMutablePointer<heif_color_profile_nclx>?
            guard heif_image_handle_get_nclx_color_profile(handle, &points).code == heif_error_Ok, let points else {
                return nil
            }
            defer { heif_nclx_color_profile_free(points) }
            return ColorTransform.from(
                ColorCodePoints(
                    primaries: Int(points.pointee.color_primaries.rawValue),
                    transfer: Int(points.pointee.transfer_characteristics.rawValue)))
        }

        /// libheif copies the whole profile, whatever the size of the memory.
        private func profile() -> Data {
            let size = heif_image_handle_get_raw_color_profile_size(handle)
            guard (1...4 << 20).contains(size) else { return Data() }
            var profile = Data(count: size)
            let error = profile.withUnsafeMutableBytes {
                heif_image_handle_get_raw_color_profile(handle, $0.baseAddress)
            }
            return error.code == heif_error_Ok ? profile : Data()
        }

        private func check(_ error: heif_error) throws {
            guard error.code != heif_error_Ok else { return }
            if error.code == heif_error_Memory_allocation_error { throw ImageError.outOfMemory }
            throw ImageError.corrupt(.heic, String(cString: error.message))
        }
    }
#endif
