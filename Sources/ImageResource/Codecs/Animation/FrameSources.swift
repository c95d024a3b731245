#if !canImport(ImageIO)
    import Foundation

    /// The animations that are decoded here.
    enum FrameSources {
        static func source(of data: Data, _ sizing: ImageSizing) throws -> any FrameSource {
            // Within the limits, or nothing at all is allocated.
            try data.withUnsafeBytes { _ = try Decoding(ByteReader($0), sizing) }
            if let decoder = decoder(of: data), decoder.frames.count > 1 {
                return ComposedFrames(decoder: decoder, fileSize: data.count)
            }
            return StillFrame(data: data)
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
    private struct ComposedFrames: FrameSource {
        let decoder: any AnimationDecoder
        let fileSize: Int

        var durations: [TimeInterval] { decoder.frames.map(\.duration) }
        var loopCount: Int { decoder.loopCount }

        var byteCount: Int {
            let restores = decoder.frames.contains { $0.disposal == .restore }
            return fileSize + decoder.canvas.bytes * (restores ? 2 : 1)
        }

        func maker() throws -> any FrameMaker {
            Maker(decoder: decoder, compositor: try FrameCompositor(decoder))
        }

        private struct Maker: FrameMaker {
            let decoder: any AnimationDecoder
            let compositor: FrameCompositor

            func frame(at index: Int, _ sizing: ImageSizing) throws -> BitmapImage {
                let plan = DecodePlan(stored: decoder.canvas, orientation: decoder.orientation, sizing)
                let cost = decoder.frames[index].workingBytes + plan.output.bytes
                return try DecodeBudget.shared.with(cost) {
                    let canvas = try compositor.canvas(showing: index)
                    let isWhole = plan.output == canvas.size && plan.orientation == .up
                    return try PictureAssembler.assemble(plan, isWhole ? canvas.copy() : canvas, isOpaque: false)
                }
            }
        }
    }

    /// An image that does not move.
    private struct StillFrame: FrameSource, FrameMaker {
        let data: Data

        var durations: [TimeInterval] { [0] }
        var loopCount: Int { 1 }
        var byteCount: Int { data.count }

        func maker() throws -> any FrameMaker { self }

        func frame(at index: Int, _ sizing: ImageSizing) throws -> BitmapImage {
            try BitmapImage.decode(data, sizing: sizing)
        }
    }
#endif
