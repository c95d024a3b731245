#if !canImport(ImageIO)
    internal import CWebP
    import Synchronizer

    /// libwebp's incremental decoder, fed in pieces, so that it can be left in between.
    final class WebPStream {
        /// How many pixels' worth of a file is fed at a time: some 3 ms of work, if all parts of the picture take as many
        /// bytes.
        private static let pixelsAtOnce = 250_000

        /// Some parts of a picture are detailed and some flat, so that a few kilobytes can be a megapixel and more.
        private static let lossyBytesAtOnce = 4096

        /// Of a lossless file libwebp decodes up to eight rows anew with each piece, which makes small pieces dear: they
        /// are only as small as that where a lot of pixels come of them. It waits for the first eighth of the file, whose
        /// pixels come at once.
        private static let losslessBytesAtOnce = 1024...8192

        /// The decoder keeps pointers into it.
        private let config: UnsafeMutablePointer<WebPDecoderConfig>
        private let decoder: OpaquePointer
        /// How many bytes it has been given.
        private var fed = 0
        private var losslessBytes = losslessBytesAtOnce.lowerBound
        /// Whether all of the picture is there.
        private(set) var isComplete = false

        /// - Parameter configure: Says what is to be made, and where to; that memory must outlive the stream.
        init(_ configure: (inout WebPDecoderConfig) -> Void) throws {
            config = .allocate(capacity: 1)
            config.initialize(to: WebPDecoderConfig())
            _ = WebPInitDecoderConfig(config)
            config.pointee.output.is_external_memory = 1
            configure(&config.pointee)
            guard let decoder = WebPIDecode(nil, 0, config) else {
                config.deallocate()
                throw ImageError.outOfMemory
            }
            self.decoder = decoder
        }

        deinit {
            WebPIDelete(decoder)
            WebPFreeDecBuffer(&config.pointee.output)
            config.deallocate()
        }

        /// The number of rows that are there, from the top.
        var rowsDone: Int { sizeDone.height }

        private var pixelsDone: Int { sizeDone.area }

        private var sizeDone: PixelSize {
            var (left, top, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
            let isBegun = WebPIDecodedArea(decoder, &left, &top, &width, &height) != nil
            return isBegun ? PixelSize(width: Int(width), height: Int(height)) : PixelSize(width: 0, height: 0)
        }

        /// Decodes a piece more, given all bytes so far, which need not stay in place; false when there is none. Throws
        /// `CancellationError` if nobody waits for the picture any more.
        /// - Parameter pixels: The number of them in the whole picture.
        func step(_ bytes: ByteReader, pixels: Int) throws -> Bool {
            guard !isComplete, fed < bytes.count else { return false }
            try ParseCancellation.check()
            let share = max(1, bytes.count / max(1, pixels / Self.pixelsAtOnce))
            let isLossless = WebPHeader.isLossless(bytes)
            fed = min(fed + min(share, isLossless ? losslessBytes : Self.lossyBytesAtOnce), bytes.count)
            let before = pixelsDone
            if let part = bytes.part(from: 0, count: fed) { isComplete = try update(part) }
            if isLossless {
                let sizes = Self.losslessBytesAtOnce
                let isFlat = pixelsDone - before > Self.pixelsAtOnce / 2
                losslessBytes = isFlat ? sizes.lowerBound : min(losslessBytes * 2, sizes.upperBound)
            }
            return true
        }

        private func update(_ bytes: ByteReader) throws -> Bool {
            let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            switch WebPIUpdate(decoder, address, bytes.count) {
            case VP8_STATUS_OK: return true
            case VP8_STATUS_SUSPENDED: return false
            case VP8_STATUS_OUT_OF_MEMORY: throw ImageError.outOfMemory
            case VP8_STATUS_UNSUPPORTED_FEATURE: throw ImageError.damaged(.webp, "an unknown feature")
            default: throw ImageError.damaged(.webp, "the bitstream makes no sense")
            }
        }
    }
#endif
