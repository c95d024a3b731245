import Foundation

/// The frames of a GIF.
struct GIFAnimation: AnimationDecoder {
    let canvas: PixelSize
    let frames: [AnimationFrame]
    let loopCount: Int
    let isComplete: Bool
    private let data: Data
    private let files: [GIFFile.Frame]

    init?(_ data: Data) {
        var frames: [GIFFile.Frame] = []
        let file = data.withUnsafeBytes { bytes in
            var file = GIFFile(ByteReader(bytes))
            while frames.count <= AnimationFrame.most, let frame = file?.nextFrame() { frames.append(frame) }
            return file.map { (canvas: $0.canvas, loops: $0.loopCount, isTruncated: $0.isTruncated) }
        }
        guard let file, !frames.isEmpty else { return nil }
        self.data = data
        files = frames
        canvas = file.canvas
        isComplete = !file.isTruncated
        loopCount = file.loops
        self.frames = frames.map { frame in
            AnimationFrame(
                area: frame.area, duration: AnimationFrame.shownDuration(Double(frame.delay) / 100),
                disposal: frame.disposal, replaces: frame.transparentIndex == nil,
                workingBytes: frame.area.size.area)
        }
    }

    /// A GIF has no profile, so there is nothing to convert.
    func draw(_ index: Int, onto canvas: PixelBuffer, colours: ColorTransform?) throws -> Bool {
        try data.withUnsafeBytes { try GIFDecoder.draw(files[index], from: ByteReader($0), onto: canvas) }
    }
}
