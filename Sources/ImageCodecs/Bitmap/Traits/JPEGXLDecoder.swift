#if JXL && canImport(CJXL)
    internal import CJXL
    import Foundation
    import SynchronizerSupport

    /// Decodes JPEG XL with libjxl. libjxl gets the file in pieces, and a decode can be cancelled between them.
    final class JPEGXLDecoder: BitmapCodec {
        private let decoder: OpaquePointer
        private var picture: PixelBuffer?
        private var info = JxlBasicInfo()
        private var profile = Data()

        private init() throws {
            guard let decoder = JxlDecoderCreate(nil) else { throw ImageError.outOfMemory }
            self.decoder = decoder
        }

        deinit {
            JxlDecoderDestroy(decoder)
        }

        /// The largest number of extra channels, such as alpha. Files with more are refused, because each takes a plane.
        private static let mostExtraChannels = 2

        /// Channels of floats, and the picture.
        static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int {
            let (bytes, overflow) = plan.stored.bytes.multipliedReportingOverflow(by: 3 + mostExtraChannels + 1)
            return overflow ? .max : bytes
        }

        static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
            try JPEGXLDecoder().decode(bytes, plan: plan)
        }

        private func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
            let events = JXL_DEC_BASIC_INFO.rawValue | JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FULL_IMAGE.rawValue
            try check(JxlDecoderSubscribeEvents(decoder, Int32(events)))
            // libjxl must not rotate: `PictureAssembler` does that, as for every other format.
            try check(JxlDecoderSetKeepOrientation(decoder, 1))
            try run(bytes, size: plan.stored)
            guard let picture else { throw corrupt("no picture") }
            let isOpaque = info.alpha_bits == 0
            for row in 0..<picture.size.height {
                if row & 63 == 0 { try ParseCancellation.check() }
                PixelOrder.swapRedAndBlue(picture.row(row), into: picture.row(row), count: picture.size.width)
            }
            if !isOpaque {
                let isMultiplied = info.alpha_premultiplied != 0
                try isMultiplied ? Premultiplication.limit(picture) : Premultiplication.multiply(picture)
            }
            let colours = profile.withUnsafeBytes {
                ColorTransform(ByteReader($0), model: info.num_color_channels == 1 ? .grey : .rgb)
            }
            return try PictureAssembler.assemble(plan, whole: picture, colours: colours, isOpaque: isOpaque)
        }

        private func run(_ bytes: ByteReader, size: PixelSize) throws {
            let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var fed = 0
            while true {
                try ParseCancellation.check()
                let status = JxlDecoderProcessInput(decoder)
                switch status {
                case JXL_DEC_NEED_MORE_INPUT:
                    guard let address, fed < bytes.count else { throw corrupt("the data ends too early") }
                    let start = fed - JxlDecoderReleaseInput(decoder)
                    fed = min(bytes.count, fed + 65536)
                    try check(JxlDecoderSetInput(decoder, address + start, fed - start))
                    if fed == bytes.count { JxlDecoderCloseInput(decoder) }
                case JXL_DEC_BASIC_INFO: try noteInfo(size)
                case JXL_DEC_COLOR_ENCODING: noteColours()
                case JXL_DEC_NEED_IMAGE_OUT_BUFFER: try allocate(size)
                case JXL_DEC_FULL_IMAGE, JXL_DEC_SUCCESS: return
                default: throw corrupt("invalid codestream")
                }
            }
        }

        private func noteInfo(_ size: PixelSize) throws {
            try check(JxlDecoderGetBasicInfo(decoder, &info))
            guard Int(info.xsize) == size.width, Int(info.ysize) == size.height else {
                throw corrupt("the header and the stream have different sizes")
            }
            guard info.num_extra_channels <= Self.mostExtraChannels else { throw corrupt("too many channels") }
        }

        /// Requests sRGB, which libjxl delivers if it can. Sets `profile` to the profile of what libjxl delivers.
        private func noteColours() {
            var wanted = JxlColorEncoding()
            wanted.color_space = info.num_color_channels == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB
            wanted.white_point = JXL_WHITE_POINT_D65
            wanted.primaries = JXL_PRIMARIES_SRGB
            wanted.transfer_function = JXL_TRANSFER_FUNCTION_SRGB
            wanted.rendering_intent = JXL_RENDERING_INTENT_RELATIVE
            JxlDecoderSetPreferredColorProfile(decoder, &wanted)
            var format = Self.format
            var size = 0
            guard
                JxlDecoderGetICCProfileSize(decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA, &size) == JXL_DEC_SUCCESS,
                (1...4 << 20).contains(size)
            else { return }
            profile = Data(count: size)
            let status = profile.withUnsafeMutableBytes { buffer in
                JxlDecoderGetColorAsICCProfile(
                    decoder, &format, JXL_COLOR_PROFILE_TARGET_DATA,
                    buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), size)
            }
            if status != JXL_DEC_SUCCESS { profile = Data() }
        }

        private func allocate(_ size: PixelSize) throws {
            let picture = try PixelBuffer(size, cleared: true)
            var format = Self.format
            try check(JxlDecoderSetImageOutBuffer(decoder, &format, picture.base, size.bytes))
            self.picture = picture
        }

        private static let format = JxlPixelFormat(
            num_channels: 4, data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)

        private func check(_ status: JxlDecoderStatus) throws {
            if status != JXL_DEC_SUCCESS { throw corrupt("libjxl refused a step") }
        }

        private func corrupt(_ reason: String) -> ImageError { .corrupt(.jpegXL, reason) }
    }
#endif
