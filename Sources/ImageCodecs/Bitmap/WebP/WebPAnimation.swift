import Foundation

/// The frames of an animated WebP (RFC 9649 §2.7.1.1). To decode a frame, its chunks are copied to a file of its own.
struct WebPAnimation: AnimationDecoder {
    let canvas: PixelSize
    let frames: [AnimationFrame]
    let loopCount: Int
    let orientation: ImageOrientation
    let isComplete: Bool
    private let data: Data
    /// The range of each frame's chunks.
    private let chunks: [Range<Int>]

    /// - Parameter limit: The number of frames to look for.
    init?(_ data: Data, limit: Int = AnimationFrame.most + 1) {
        var (frames, chunks, loops): ([AnimationFrame], [Range<Int>], Int) = ([], [], 1)
        let header = data.withUnsafeBytes { buffer -> HeaderFacts? in
            let bytes = ByteReader(buffer)
            guard WebPHeader.isAnimated(bytes), let header = WebPHeader.read(bytes) else { return nil }
            let canvas = PixelSize(width: header.width, height: header.height)
            for chunk in RIFFChunks(bytes) where frames.count < limit {
                if chunk.name == "ANIM" { loops = chunk.content.little16(4) ?? 1 }
                guard chunk.name == "ANMF", let frame = Self.frame(chunk.content) else { continue }
                // A frame that reaches beyond the canvas violates the format, and may be very large.
                guard frame.area.inside(canvas) == frame.area else { break }
                frames.append(frame)
                chunks.append(chunk.range.dropFirst(16))
            }
            return header
        }
        guard let header, !frames.isEmpty else { return nil }
        self.data = data
        isComplete = data.withUnsafeBytes { !WebPHeader.isTruncated(ByteReader($0)) }
        self.chunks = chunks
        self.frames = frames
        loopCount = loops
        orientation = header.orientation
        canvas = PixelSize(width: header.width, height: header.height)
    }

    /// The ANMF chunk (RFC 9649 §2.7.1.1). Offsets are halved, sizes are reduced by one, the duration is in milliseconds.
    private static func frame(_ content: ByteReader) -> AnimationFrame? {
        guard let x = content.little24(0), let y = content.little24(3), let width = content.little24(6),
            let height = content.little24(9), let duration = content.little24(12), let flags = content.byte(15)
        else { return nil }
        let size = PixelSize(width: width + 1, height: height + 1)
        return AnimationFrame(
            area: PixelArea(x: x * 2, y: y * 2, size: size),
            duration: AnimationFrame.shownDuration(Double(duration) / 1000),
            disposal: flags & 1 == 1 ? .clear : .keep, replaces: flags & 2 == 2, workingBytes: size.bytes * 2)
    }

    func colourTransform() -> ColorTransform? {
        data.withUnsafeBytes { ColorTransform(WebPHeader.profile(ByteReader($0)), model: .rgb) }
    }

    func draw(_ index: Int, onto canvas: PixelBuffer, colours: ColorTransform?) throws -> Bool {
        let frame = frames[index]
        let file = data.withUnsafeBytes { Self.file($0[chunks[index]], size: frame.area.size) }
        let picture = try file.withUnsafeBytes { try WebPDecoder.picture(ByteReader($0), stored: frame.area.size) }
        try colours?.apply(to: picture, isOpaque: false)
        FrameBlending.put(picture, at: frame.area, replaces: frame.replaces, onto: canvas)
        return true
    }

    /// A file of one picture: the chunks of a frame, and a header that allows alpha.
    private static func file(_ chunks: Slice<UnsafeRawBufferPointer>, size: PixelSize) -> Data {
        var file = Data("RIFF".utf8) + little(4 + 18 + chunks.count, count: 4) + Data("WEBPVP8X".utf8)
        file +=
            little(10, count: 4) + little(0x10, count: 4) + little(size.width - 1, count: 3)
            + little(size.height - 1, count: 3)
        file.append(contentsOf: chunks)
        return file
    }

    private static func little(_ value: Int, count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }
}
