import Foundation

/// Draws the frames of one file.
protocol AnimationDecoder: Sendable {
    var canvas: PixelSize { get }
    var frames: [AnimationFrame] { get }
    /// How often the animation plays; 0 means forever.
    var loopCount: Int { get }
    var orientation: ImageOrientation { get }
    /// Whether the file is complete; for APNG also whether its sequence of chunks is valid.
    var isComplete: Bool { get }

    /// The conversion of the colours to sRGB; nil if they need none or the profile is unusable.
    func colourTransform() -> ColorTransform?

    /// Converts the colours of a frame, and draws the frame over the canvas, in premultiplied BGRA. Returns whether no pixel of
    /// the frame is missing.
    func draw(_ index: Int, onto canvas: PixelBuffer, colours: ColorTransform?) throws -> Bool
}

extension AnimationDecoder {
    var orientation: ImageOrientation { .up }

    func colourTransform() -> ColorTransform? { nil }

    /// The bytes of the canvas, and of a copy if the disposal of any frame restores what the frame covered.
    var canvasBytes: Int { canvas.bytes * (frames.contains { $0.disposal == .restore } ? 2 : 1) }

    /// The bytes that making a frame takes in addition to the resulting picture.
    var workingBytes: Int {
        let (bytes, overflow) = canvasBytes.addingReportingOverflow(frames.map(\.workingBytes).max() ?? 0)
        return overflow ? .max : bytes
    }

    /// The picture that represents the animation where it does not play.
    func firstFrame(_ plan: DecodePlan) throws -> BitmapImage {
        let picture = try PixelBuffer(canvas, cleared: true)
        _ = try draw(0, onto: picture, colours: colourTransform())
        return try PictureAssembler.assemble(plan, whole: picture, isOpaque: false)
    }
}

/// Blends frames with what is beneath them.
enum FrameBlending {
    /// Puts a premultiplied picture at its place on a canvas. Parts outside the canvas are cut off.
    static func put(_ picture: PixelBuffer, at area: PixelArea, replaces: Bool, onto canvas: PixelBuffer) {
        guard let visible = area.inside(canvas.size) else { return }
        for row in 0..<visible.size.height {
            let source = picture.row(visible.y - area.y + row) + (visible.x - area.x) * 4
            let target = canvas.row(visible.y + row) + visible.x * 4
            if replaces {
                target.copyMemory(from: source, byteCount: visible.size.width * 4)
            } else {
                blend(source, onto: target, count: visible.size.width)
            }
        }
    }

    private static func blend(
        _ source: UnsafeMutableRawPointer, onto target: UnsafeMutableRawPointer, count: Int
    ) {
        let source = source.assumingMemoryBound(to: UInt32.self)
        let target = target.assumingMemoryBound(to: UInt32.self)
        for index in 0..<count {
            let above = source[index]
            let rest = 255 - above >> 24
            if rest == 0 {
                target[index] = above
            } else if rest < 255 {
                target[index] = above &+ scaled(target[index], by: rest)
            }
        }
    }

    /// Multiplies all four channels by `factor` / 255, rounding to the nearest value.
    private static func scaled(_ pixel: UInt32, by factor: UInt32) -> UInt32 {
        let outer = (pixel & 0x00FF_00FF) &* factor &+ 0x0080_0080
        let inner = (pixel >> 8 & 0x00FF_00FF) &* factor &+ 0x0080_0080
        return (outer &+ (outer >> 8 & 0x00FF_00FF)) >> 8 & 0x00FF_00FF
            | (inner &+ (inner >> 8 & 0x00FF_00FF)) & 0xFF00_FF00
    }
}
