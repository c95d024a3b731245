#if AVIF && canImport(CAVIF)
    internal import CAVIF
    import Foundation
    import SynchronizerSupport

    /// Decodes AVIF with libavif, which writes premultiplied BGRA itself. A decode in progress cannot be cancelled.
    final class AVIFDecoder: BitmapCodec {
        private let decoder: UnsafeMutablePointer<avifDecoder>

        private init(_ bytes: ByteReader, limit: Int) throws {
            guard let decoder = avifDecoderCreate() else { throw ImageError.outOfMemory }
            self.decoder = decoder
            decoder.pointee.maxThreads = 1
            // `ImageHeader` describes the still picture, so that is decoded. A sequence may have other tracks, such as sound.
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
            try checkGrids(bytes)
            guard let adapted = HEIFBoxes.adapted(bytes) else {
                return try AVIFDecoder(bytes, limit: plan.coded.area).decode(plan)
            }
            return try adapted.withUnsafeBytes { try AVIFDecoder(ByteReader($0), limit: plan.coded.area).decode(plan) }
        }

        /// Throws if libavif might misplace tiles.
        private static func checkGrids(_ bytes: ByteReader) throws {
            if let items = HEIFItems(bytes) {
                guard isInOrder(items) else {
                    let version = String(cString: avifVersion())
                    throw ImageError.corrupt(.avif, "libavif \(version) may misplace or omit tiles of the grid")
                }
            } else if HEIFBoxes.mayHaveGrid(bytes) {
                throw ImageError.corrupt(.avif, "the tiles of the grid are ambiguous")
            }
        }

        /// Whether libavif 0.11 assembles all grids correctly. It places the tiles of a grid in the order in which any box
        /// first mentions them, instead of the order that the grid specifies. It gives a tile only to the last grid that names
        /// it. It also drops alpha that belongs to tiles.
        private static func isInOrder(_ items: HEIFItems) -> Bool {
            let (auxiliaries, wholes) = (items.auxiliaries.values.joined(), items.wholes)
            let pictures = items.mentioned.filter { items.type(of: $0, is: "av01") }
            let placed = Dictionary(grouping: pictures) { wholes[$0] }
            return items.grids.allSatisfy { grid in
                let parts = items.parts(of: grid)
                return placed[grid] == parts
                    && (auxiliaries.contains(grid) || !auxiliaries.contains(where: parts.contains))
            }
        }

        private func decode(_ plan: DecodePlan) throws -> BitmapImage {
            try ParseCancellation.check()
            try check(avifDecoderNextImage(decoder))
            try ParseCancellation.check()
            guard let image = decoder.pointee.image, Int(image.pointee.width) == plan.coded.width,
                Int(image.pointee.height) == plan.coded.height
            else { throw ImageError.corrupt(.avif, "the header and the stream have different sizes") }
            let picture = try pixels(image, size: plan.coded)
            let isOpaque = decoder.pointee.alphaPresent == 0
            if !isOpaque, image.pointee.alphaPremultiplied != 0 { try Premultiplication.limit(picture) }
            return try PictureAssembler.assemble(
                plan, whole: picture, colours: Self.colours(image.pointee), isOpaque: isOpaque)
        }

        private static func colours(_ image: avifImage) -> ColorTransform? {
            if image.icc.size > 0 {
                let profile = UnsafeRawBufferPointer(start: image.icc.data, count: image.icc.size)
                return ColorTransform.from(ByteReader(profile), isGrey: image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400)
            }
            return ColorTransform.from(
                ColorCodePoints(
                    primaries: Int(image.colorPrimaries), transfer: Int(image.transferCharacteristics)))
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
            throw ImageError.corrupt(.avif, String(cString: avifResultToString(result)))
        }
    }

    /// What libavif 0.11 requires of a file's boxes.
    enum HEIFBoxes {
        /// A copy of the file, changed as libavif 0.11 requires it; nil if the file needs no changes.
        ///
        /// libavif needs the length of the `meta` box in its header. The standard also allows a box to extend to the end of
        /// the file without stating its length (ISO/IEC 14496-12 §4.2). The tracks are hidden, because only the still picture
        /// is decoded, and libavif refuses files with sound.
        static func adapted(_ file: ByteReader) -> Data? {
            var changes: [(offset: Int, bytes: [UInt8])] = []
            for box in Boxes(file, from: 0) {
                guard let offset = file.offset(of: box.header) else { continue }
                if box.has("ftyp") {
                    // The brand of files with tracks.
                    let brands = stride(from: 0, to: box.content.count, by: 4).filter {
                        box.content.has("avis", at: $0)
                    }
                    changes += brands.map { (offset + 8 + $0, Array("avif".utf8)) }
                } else if box.has("moov") {
                    changes.append((offset + 4, Array("free".utf8)))
                } else if box.has("meta"), box.header.big32(0) == 0 {
                    let length = UInt32(clamping: file.count - offset)
                    changes.append((offset, withUnsafeBytes(of: length.bigEndian, Array.init)))
                }
            }
            guard !changes.isEmpty else { return nil }
            var data = Data(file.bytes)
            for change in changes {
                data.replaceSubrange(change.offset..<change.offset + change.bytes.count, with: change.bytes)
            }
            return data
        }

        /// Whether any item may be a grid.
        static func mayHaveGrid(_ file: ByteReader) -> Bool {
            guard let meta = Boxes(file, from: 0).first(where: { $0.has("meta") })?.content else { return true }
            return (0..<meta.count).contains { meta.has("grid", at: $0) }
        }
    }
#endif
