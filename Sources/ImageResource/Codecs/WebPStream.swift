#if !canImport(ImageIO)
    internal import CWebP
    import Synchronizer

    /// libwebp's incremental decoder, fed in pieces, so that it can be left in between.
    final class WebPStream {
        /// How many pixels' worth of a file is fed at a time: some 3 ms of work, if all parts of the picture take as many
        /// bytes.
        private static let pixelsAtOnce = 250_000

        /// Some parts of a picture are detailed and some flat: of a lossless file a kilobyte can be a megapixel and more,
        /// of a lossy one four.
        private static let (losslessBytesAtOnce, lossyBytesAtOnce) = (1024, 4096)

        /// The decoder keeps pointers into it.
        private let config: UnsafeMutablePointer<WebPDecoderConfig>
        private let decoder: OpaquePointer
        /// How many bytes it has been given.
        private var fed = 0
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
        var rowsDone: Int {
            var (left, top, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
            return WebPIDecodedArea(decoder, &left, &top, &width, &height) == nil ? 0 : Int(height)
        }

        /// Decodes a piece more, given all bytes so far, which need not stay in place; false when there is none. Throws
        /// `CancellationError` if nobody waits for the picture any more.
        /// - Parameter pixels: The number of them in the whole picture.
        func step(_ bytes: ByteReader, pixels: Int) throws -> Bool {
            guard !isComplete, fed < bytes.count else { return false }
            try ParseCancellation.check()
            let share = max(1, bytes.count / max(1, pixels / Self.pixelsAtOnce))
            let most = WebPHeader.isLossless(bytes) ? Self.losslessBytesAtOnce : Self.lossyBytesAtOnce
            fed = min(fed + min(share, most), bytes.count)
            if let part = bytes.part(from: 0, count: fed) { isComplete = try update(part) }
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
