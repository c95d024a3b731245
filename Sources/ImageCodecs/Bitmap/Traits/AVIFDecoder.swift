#if AVIF && canImport(CAVIF)
    internal import CAVIF
    import Foundation
    import Synchronizer

    /// Decodes AVIF with libavif, which writes premultiplied BGRA itself. A decode in progress cannot be cancelled.
    final class AVIFDecoder: BitmapCodec {
        private let decoder: UnsafeMutablePointer<avifDecoder>

        private init(_ bytes: ByteReader, limit: Int) throws {
            guard let decoder = avifDecoderCreate() else { throw ImageError.outOfMemory }
            self.decoder = decoder
            decoder.pointee.maxThreads = 1
            // The header describes the still picture too. A sequence may have other tracks, for example sound.
            decoder.pointee.requestedSource = AVIF_DECODER_SOURCE_PRIMARY_ITEM
            decoder.pointee.ignoreExif = 1
            decoder.pointee.ignoreXMP = 1
            decoder.pointee.imageSizeLimit = UInt32(clamping: min(limit, 16384 * 16384))
            decoder.pointee.strictFlags = 0
            let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            try check(avifDecoderSetIOMemory(decoder, address, bytes.count))
            try check(avifDecoderParse(decoder))
        }

        deinit {
            avifDecoderDestroy(decoder)
        }

        /// Planes with up to two bytes per sample, and the reference pictures.
        static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int {
            let (bytes, overflow) = plan.coded.bytes.multipliedReportingOverflow(by: 4)
            return overflow ? .max : bytes
        }

        static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
            if let items = HEIFItems(bytes), !isInOrder(items) {
                throw ImageError.damaged(.avif, "libavif 0.11 would misplace or omit tiles of the grid")
            }
            guard let complete = HEIFMeta.withExplicitLength(bytes) else {
                return try AVIFDecoder(bytes, limit: plan.coded.area).decode(plan)
            }
            return try complete.withUnsafeBytes { try AVIFDecoder(ByteReader($0), limit: plan.coded.area).decode(plan) }
        }

        /// libavif 0.11 places the tiles of a grid in the order in which the file lists them instead of the order that the
        /// grid specifies. It also drops alpha that belongs to tiles.
        private static func isInOrder(_ items: HEIFItems) -> Bool {
            let auxiliaries = items.auxiliaries.values.joined()
            return items.grids.allSatisfy { grid in
                let parts = items.parts(of: grid)
                let isListed = items.listings.allSatisfy { list in list.filter(Set(parts).contains) == parts }
                return isListed && (auxiliaries.contains(grid) || !auxiliaries.contains(where: parts.contains))
            }
        }

        private func decode(_ plan: DecodePlan) throws -> BitmapImage {
            try ParseCancellation.check()
            try check(avifDecoderNextImage(decoder))
            try ParseCancellation.check()
            guard let image = decoder.pointee.image, Int(image.pointee.width) == plan.coded.width,
                Int(image.pointee.height) == plan.coded.height
            else { throw ImageError.damaged(.avif, "the header and the stream have different sizes") }
            let picture = try pixels(image, size: plan.coded)
            let isOpaque = decoder.pointee.alphaPresent == 0
            let profile = ByteReader(
                UnsafeRawBufferPointer(start: image.pointee.icc.data, count: image.pointee.icc.size))
            return try PictureAssembler.assemble(
                plan, whole: picture, colours: ColorTransform(profile, model: .rgb), isOpaque: isOpaque)
        }

        private func pixels(_ image: UnsafeMutablePointer<avifImage>, size: PixelSize) throws -> PixelBuffer {
            let picture = try PixelBuffer(size, cleared: true)
            var target = avifRGBImage()
            avifRGBImageSetDefaults(&target, image)
            target.depth = 8
            target.format = AVIF_RGB_FORMAT_BGRA
            target.alphaPremultiplied = 1
            target.pixels = picture.base.assumingMemoryBound(to: UInt8.self)
            target.rowBytes = UInt32(clamping: picture.bytesPerRow)
            try check(avifImageYUVToRGB(image, &target))
            return picture
        }

        private func check(_ result: avifResult) throws {
            guard result != AVIF_RESULT_OK else { return }
            if result == AVIF_RESULT_OUT_OF_MEMORY { throw ImageError.outOfMemory }
            throw ImageError.damaged(.avif, String(cString: avifResultToString(result)))
        }
    }

    /// The `meta` box of a file. It may extend to the end of the file without stating its length (ISO/IEC 14496-12 §4.2).
    enum HEIFMeta {
        /// The file with the length of that box in its header, as libavif 0.11 requires; nil if it is there already.
        static func withExplicitLength(_ file: ByteReader) -> Data? {
            guard let meta = Boxes(file, from: 0).first(where: { $0.has("meta") }), meta.header.big32(0) == 0,
                let start = file.bytes.baseAddress, let header = meta.header.bytes.baseAddress
            else { return nil }
            let offset = start.distance(to: header)
            let length = UInt32(clamping: file.count - offset)
            var data = Data(file.bytes)
            withUnsafeBytes(of: length.bigEndian) { data.replaceSubrange(offset..<offset + 4, with: $0) }
            return data
        }
    }
#endif
