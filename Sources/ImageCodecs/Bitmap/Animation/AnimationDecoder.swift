#if !canImport(ImageIO)
    import Foundation

    /// Draws the frames of one file.
    protocol AnimationDecoder: Sendable {
        var canvas: PixelSize { get }
        var frames: [AnimationFrame] { get }
        /// How often it plays; 0 is for ever.
        var loopCount: Int { get }
        var orientation: ImageOrientation { get }
        /// Whether all frames are there that the file is to have.
        var isComplete: Bool { get }

        /// How its colours become sRGB; nil if they are, or nothing is known of them.
        func colourTransform() -> ColorTransform?

        /// Draws a frame over what is there: premultiplied BGRA.
        func draw(_ index: Int, onto canvas: PixelBuffer) throws
    }

    extension AnimationDecoder {
        var orientation: ImageOrientation { .up }

        func colourTransform() -> ColorTransform? { nil }

        /// The canvas, and what is to come back where a frame has covered it.
        var canvasBytes: Int { canvas.bytes * (frames.contains { $0.disposal == .restore } ? 2 : 1) }

        /// What making a frame takes beside the picture that comes out.
        var workingBytes: Int {
            let (bytes, overflow) = canvasBytes.addingReportingOverflow(frames.map(\.workingBytes).max() ?? 0)
            return overflow ? .max : bytes
        }

        /// The picture that stands for the animation where it does not play.
        func firstFrame(_ plan: DecodePlan) throws -> BitmapImage {
            let picture = try PixelBuffer(canvas, cleared: true)
            try draw(0, onto: picture)
            return try PictureAssembler.assemble(plan, picture, colourTransform(), isOpaque: false)
        }
    }

    /// Blends frames with what is beneath them.
    enum FrameBlending {
        /// Puts a picture, premultiplied, at its place on a canvas; what lies outside is left out.
        static func put(_ picture: PixelBuffer, at area: PixelArea, replaces: Bool, onto canvas: PixelBuffer) {
            guard let visible = area.inside(canvas.size) else { return }
            for row in 0..<visible.size.height {
                let source = picture.row(visible.y - area.y + row) + (visible.x - area.x) * 4
                let target = canvas.row(visible.y + row) + visible.x * 4
                if replaces {
                    target.copyMemory(from: source, byteCount: visible.size.width * 4)
                } else {
                    blend(source, target, visible.size.width)
                }
            }
        }

        private static func blend(
            _ source: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int
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

        /// All four channels times `factor` / 255, rounded to the nearest.
        private static func scaled(_ pixel: UInt32, by factor: UInt32) -> UInt32 {
            let outer = (pixel & 0x00FF_00FF) &* factor &+ 0x0080_0080
            let inner = (pixel >> 8 & 0x00FF_00FF) &* factor &+ 0x0080_0080
            return (outer &+ (outer >> 8 & 0x00FF_00FF)) >> 8 & 0x00FF_00FF
                | (inner &+ (inner >> 8 & 0x00FF_00FF)) & 0xFF00_FF00
        }
    }
#endif
