#if !canImport(ImageIO)
    import Foundation

    /// The animations that are decoded here.
    enum FrameSources {
        static func source(
            of data: Data, _ sizing: ImageSizing, limit: Int = ImageDecoding.memoryBudget
        ) throws -> any FrameSource {
            // Within the limits, or nothing at all is allocated.
            try data.withUnsafeBytes { _ = try Decoding(ByteReader($0), sizing, budget: limit) }
            guard let decoder = decoder(of: data), decoder.frames.count > 1 else {
                return StillFrame(data: data, sizing: sizing)
            }
            let plan = DecodePlan(stored: decoder.canvas, orientation: decoder.orientation, sizing)
            guard let affordable = plan.limited(toBytes: limit - decoder.workingBytes) else {
                throw ImageError.overBudget(bytes: decoder.workingBytes, limit: limit)
            }
            return ComposedFrames(decoder: decoder, plan: affordable, fileSize: data.count)
        }

        private static func decoder(of data: Data) -> (any AnimationDecoder)? {
            switch ImageFormat(data) {
            case .gif: return GIFAnimation(data)
            case .png: return APNGAnimation(data)
            case .webp: return WebPAnimation(data)
            default: return nil
            }
        }
    }

    /// Frames that are drawn one over the other.
    struct ComposedFrames: FrameSource {
        fileprivate let decoder: any AnimationDecoder
        let plan: DecodePlan
        fileprivate let fileSize: Int

        var durations: [TimeInterval] { decoder.frames.map(\.duration) }
        var loopCount: Int { decoder.loopCount }
        var byteCount: Int { fileSize + decoder.canvasBytes }

        func maker() throws -> any FrameMaker { Maker(frames: self) }

        private final class Maker: FrameMaker {
            private let frames: ComposedFrames
            private var compositor: FrameCompositor?
            private lazy var colours = frames.decoder.colourTransform()

            init(frames: ComposedFrames) {
                self.frames = frames
            }

            func frame(at index: Int) throws -> BitmapImage {
                let plan = frames.plan
                return try DecodeBudget.shared.with(frames.decoder.workingBytes + plan.output.bytes) {
                    let compositor = try self.compositor ?? FrameCompositor(frames.decoder)
                    self.compositor = compositor
                    let canvas = try compositor.canvas(showing: index)
                    let isWhole = plan.output == canvas.size && plan.orientation == .up
                    let image = try PictureAssembler.assemble(plan, isWhole ? canvas.copy() : canvas, isOpaque: false)
                    try colours?.apply(to: image.buffer, isOpaque: false)
                    return image
                }
            }
        }
    }

    /// An image that does not move.
    private struct StillFrame: FrameSource, FrameMaker {
        let data: Data
        let sizing: ImageSizing

        var durations: [TimeInterval] { [0] }
        var loopCount: Int { 1 }
        var byteCount: Int { data.count }

        func maker() throws -> any FrameMaker { self }

        func frame(at index: Int) throws -> BitmapImage {
            try BitmapImage.decode(data, sizing: sizing)
        }
    }
#endif
