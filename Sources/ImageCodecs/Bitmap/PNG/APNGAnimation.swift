import Foundation

/// The frames of an animated PNG (W3C PNG §11.3.6). To decode a frame, its chunks are copied to a file of its own.
struct APNGAnimation: AnimationDecoder {
    let canvas: PixelSize
    private(set) var frames: [AnimationFrame] = []
    private(set) var loopCount = 0
    let orientation: ImageOrientation
    private(set) var isComplete = false
    /// Whether the default image, which decoders without support for APNG show, is the first frame.
    private(set) var showsDefaultImage = false
    private let data: Data
    /// Bit depth, colour type and methods, as in `IHDR`.
    private let layout: Data
    /// The chunks before the pixels that affect colours and transparency.
    private var colours: [Range<Int>] = []
    /// The compressed pixels of each frame.
    private var pixels: [[Range<Int>]] = []
    /// The number of frames that the file announces.
    private var announced = 0
    /// The next sequence number. `fcTL` and `fdAT` chunks share one sequence, from 0.
    private var nextNumber = 0
    private var isBroken = false
    /// Whether the default image belongs to a frame of another size or place than the canvas.
    private var contradictsItself = false
    /// Whether the last control chunk began a frame that is kept, so that the next pixels belong to it.
    private var isInFrame = false

    /// Returns nil if the PNG is not animated, or if it contradicts itself about the size of its default image. It is
    /// then a still picture.
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
                if isBroken || contradictsItself { break }
            }
        }
        // A frame without pixels is ignored.
        frames = zip(frames, pixels).filter { !$0.1.isEmpty }.map(\.0)
        pixels = pixels.filter { !$0.isEmpty }
        if frames.isEmpty || contradictsItself { return nil }
    }

    /// The number of frames and of plays from the animation control chunk. It comes before the pixels, possibly after the
    /// control chunk of the first frame. A chunk whose numbers are out of range is ignored.
    static func control(_ bytes: ByteReader) -> (frames: Int, plays: Int)? {
        for chunk in PNGChunks(bytes).beforePixels where chunk.has("acTL") {
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
            // From the first wrong sequence number or invalid frame on, the file is corrupt.
            isBroken = chunk.content.big32(0) != nextNumber
            nextNumber += 1
            if !isBroken { noteFrame(chunk) }
        } else if chunk.has("IDAT"), isInFrame {
            showsDefaultImage = true
            pixels[pixels.count - 1].append(chunk.range)
            // The default image is as large as the canvas (W3C PNG §11.3.6.2), whatever the control chunk says.
            contradictsItself = frames.last?.area != PixelArea(x: 0, y: 0, size: canvas)
        }
    }

    /// Chunks after the last announced frame are ignored.
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

    /// Before the first frame there is nothing to restore (W3C PNG §11.3.6.2).
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

    func draw(_ index: Int, onto canvas: PixelBuffer, colours: ColorTransform?) throws -> Bool {
        let frame = frames[index]
        let file = file(of: index)
        let picture = try file.withUnsafeBytes {
            try PNGDecoder.picture(ByteReader($0), size: frame.area.size, colours: colours)
        }
        FrameBlending.put(picture, at: frame.area, replaces: frame.replaces, onto: canvas)
        return true
    }

    /// A file of one picture. Its checksums are zero, and the decoder ignores them.
    private func file(of index: Int) -> Data {
        let size = frames[index].area.size
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        append("IHDR", content: Self.big(size.width) + Self.big(size.height) + layout, to: &file)
        data.withUnsafeBytes { bytes in
            for range in colours { file.append(contentsOf: bytes[range]) }
            for range in pixels[index] { append("IDAT", content: Data(bytes[range]), to: &file) }
        }
        append("IEND", content: Data(), to: &file)
        return file
    }

    private func append(_ name: String, content: Data, to file: inout Data) {
        file += Self.big(content.count) + Data(name.utf8) + content + Data(count: 4)
    }

    private static func big(_ value: Int) -> Data {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Data($0) }
    }
}
