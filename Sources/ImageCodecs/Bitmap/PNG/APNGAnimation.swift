#if !canImport(ImageIO)
    import Foundation

    /// The frames of an animated PNG (W3C PNG §11.3.6), each of which is made a file of its own to be decoded.
    struct APNGAnimation: AnimationDecoder {
        let canvas: PixelSize
        private(set) var frames: [AnimationFrame] = []
        private(set) var loopCount = 0
        let orientation: ImageOrientation
        private(set) var isComplete = false
        /// Whether the picture that decoders without animation show belongs to it.
        private(set) var showsDefaultImage = false
        private let data: Data
        /// Bit depth, colour type and methods, as in `IHDR`.
        private let layout: Data
        /// Chunks that come before the pixels and matter to them: colours, and what is transparent.
        private var colours: [Range<Int>] = []
        /// The compressed pixels of each frame.
        private var pixels: [[Range<Int>]] = []
        /// How many frames the file announces.
        private var announced = 0
        /// Frame and data chunks are numbered together, from 0.
        private var nextNumber = 0
        private var isBroken = false
        /// Set from the control chunk of a frame to the next.
        private var isInFrame = false

        /// Nil for a PNG that is not animated.
        /// - Parameter limit: The number of frames to look for.
        init?(_ data: Data, limit: Int = AnimationFrame.most + 1) {
            guard let header = data.withUnsafeBytes({ PNGHeader.read(ByteReader($0)) }), data.count >= 29 else {
                return nil
            }
            self.data = data
            canvas = PixelSize(width: header.width, height: header.height)
            orientation = header.orientation
            layout = Data(data.dropFirst(24).prefix(5))
            data.withUnsafeBytes { buffer in
                guard let control = Self.control(ByteReader(buffer)) else { return }
                (announced, loopCount) = control
                for chunk in PNGChunks(ByteReader(buffer)) {
                    guard frames.count < limit || !chunk.has("fcTL") else { break }
                    note(chunk)
                    if isBroken { break }
                }
            }
            // A frame without pixels is none.
            frames = zip(frames, pixels).filter { !$0.1.isEmpty }.map(\.0)
            pixels = pixels.filter { !$0.isEmpty }
            if frames.isEmpty { return nil }
        }

        /// The number of frames, and how often they play, from the chunk that makes a PNG an animation. It comes before the
        /// pixels, also after the control chunk of the first frame. One whose numbers are out of range does not count.
        static func control(_ bytes: ByteReader) -> (frames: Int, plays: Int)? {
            for chunk in PNGChunks(bytes).prefix(64).prefix(while: { !$0.has("IDAT") }) where chunk.has("acTL") {
                guard let frames = chunk.content.big32(0), let plays = chunk.content.big32(4) else { continue }
                if (1...0x7FFF_FFFF).contains(frames), plays <= 0x7FFF_FFFF { return (frames, plays) }
            }
            return nil
        }

        private mutating func note(_ chunk: PNGChunks.Chunk) {
            if chunk.has("IEND") {
                isComplete = !isBroken
            } else if chunk.has("PLTE") || chunk.has("tRNS") {
                colours.append(chunk.whole)
            } else if chunk.has("fcTL") || chunk.has("fdAT") {
                // From the first number on that is out of order, and the first frame that makes no sense, all is damage.
                isBroken = chunk.content.big32(0) != nextNumber
                nextNumber += 1
                if !isBroken { noteFrame(chunk) }
            } else if chunk.has("IDAT"), isInFrame {
                showsDefaultImage = true
                pixels[pixels.count - 1].append(chunk.range)
            }
        }

        /// What comes after the last frame that the file announces belongs to none.
        private mutating func noteFrame(_ chunk: PNGChunks.Chunk) {
            if chunk.has("fdAT") {
                if isInFrame { pixels[pixels.count - 1].append(chunk.range.dropFirst(4)) }
                return
            }
            isInFrame = frames.count < announced
            guard isInFrame else { return }
            guard let frame = frame(chunk.content) else {
                (isInFrame, isBroken) = (false, true)
                return
            }
            frames.append(frame)
            pixels.append([])
        }

        private func frame(_ control: ByteReader) -> AnimationFrame? {
            guard let width = control.big32(4), let height = control.big32(8), let x = control.big32(12),
                let y = control.big32(16), let delay = control.big16(20), let unit = control.big16(22),
                let dispose = control.byte(24), let blend = control.byte(25)
            else { return nil }
            let size = PixelSize(width: width, height: height)
            guard width > 0, height > 0, x <= canvas.width - width, y <= canvas.height - height else { return nil }
            return AnimationFrame(
                area: PixelArea(x: x, y: y, size: size),
                duration: AnimationFrame.shownDuration(Double(delay) / Double(unit == 0 ? 100 : unit)),
                disposal: disposal(dispose), replaces: blend == 0, workingBytes: size.bytes)
        }

        /// What the first frame is to be taken away to is nothing (W3C PNG §11.3.6.2).
        private func disposal(_ operation: UInt8) -> FrameDisposal {
            switch operation {
            case 1: return .clear
            case 2: return frames.isEmpty ? .clear : .restore
            default: return .keep
            }
        }

        func colourTransform() -> ColorTransform? {
            data.withUnsafeBytes { PNGDecoder.colours(ByteReader($0)) }
        }

        func draw(_ index: Int, onto canvas: PixelBuffer) throws {
            let frame = frames[index]
            let file = file(of: index)
            let picture = try file.withUnsafeBytes { try PNGDecoder.picture(ByteReader($0), frame.area.size) }
            FrameBlending.put(picture, at: frame.area, replaces: frame.replaces, onto: canvas)
        }

        /// A file of one picture. Its checksums are left out, and not looked at.
        private func file(of index: Int) -> Data {
            let size = frames[index].area.size
            var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
            append("IHDR", Self.big(size.width) + Self.big(size.height) + layout, to: &file)
            data.withUnsafeBytes { bytes in
                for range in colours { file.append(contentsOf: bytes[range]) }
                for range in pixels[index] { append("IDAT", Data(bytes[range]), to: &file) }
            }
            append("IEND", Data(), to: &file)
            return file
        }

        private func append(_ name: String, _ content: Data, to file: inout Data) {
            file += Self.big(content.count) + Data(name.utf8) + content + Data(count: 4)
        }

        private static func big(_ value: Int) -> Data {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Data($0) }
        }
    }
#endif
