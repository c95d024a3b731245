#if !canImport(ImageIO)
    internal import CWebP
    import Foundation
    import Synchronizer

    /// libwebp's incremental decoder, fed in pieces, so that it can be left in between.
    final class WebPStream {
        /// How many pixels' worth of a file is fed at a time: some 3 ms of work, if all parts of the picture take as many
        /// bytes.
        private static let pixelsAtOnce = 250_000

        /// Some parts of a lossy picture are detailed and some flat, so that a few kilobytes can be a megapixel.
        private static let lossyBytesAtOnce = 4096

        /// Pictures of up to so many are decoded in less than ten milliseconds where they are decoded at once.
        private static let pixelsOfPatience = 2_000_000

        /// The decoder keeps pointers into it.
        private let config: UnsafeMutablePointer<WebPDecoderConfig>
        private let decoder: OpaquePointer
        /// How many bytes it has been given.
        private var fed = 0
        /// The bytes that another thread reads.
        private var copy = Data()
        /// Whether another thread was left to end what nobody waits for.
        private var isLeft = false
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
        /// - Parameters:
        ///   - pixels: The number of them in the whole picture.
        ///   - owner: What holds the memory that is decoded to.
        func step(_ bytes: ByteReader, pixels: Int, owner: AnyObject) throws -> Bool {
            guard !isComplete, fed < bytes.count else { return false }
            try ParseCancellation.check()
            if isLeft { throw CancellationError() }
            let isLossless = WebPHeader.isLossless(bytes)
            let share = max(1, bytes.count / max(1, pixels / Self.pixelsAtOnce))
            fed = min(fed + (isLossless ? share : min(share, Self.lossyBytesAtOnce)), bytes.count)
            let canTakeLong = pixels > Self.pixelsOfPatience && (isLossless || bytes.count < pixels / 32)
            if canTakeLong {
                isComplete = try updateAside(bytes, owner)
            } else if let part = bytes.part(from: 0, count: fed) {
                isComplete = try update(part)
            }
            return true
        }

        /// libwebp waits for an eighth of a lossless file, and then decodes that at once; and it does so with all of a lossy
        /// one that is of one colour. That may take fifty milliseconds.
        private func updateAside(_ bytes: ByteReader, _ owner: AnyObject) throws -> Bool {
            if copy.count < bytes.count { copy = Data(bytes.bytes) }
            let work = Handed(stream: self, bytes: copy.prefix(fed), owner: owner)
            isLeft = true
            let isComplete = try WorkAside.run {
                try work.bytes.withUnsafeBytes { try work.stream.update(ByteReader($0)) }
            }
            isLeft = false
            return isComplete
        }

        /// What another thread works on.
        private struct Handed: @unchecked Sendable {  // Who hands it over waits for the end, or never touches it again.
            let stream: WebPStream
            let bytes: Data
            let owner: AnyObject
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
