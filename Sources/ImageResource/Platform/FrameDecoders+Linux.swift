#if !canImport(ImageIO)
    import Foundation
    import ImageCodecs

    extension FrameDecoders {
        init(_ data: Data, sizing: ImageSizing) throws {
            let source = try FrameSources.source(of: data, sizing: sizing)
            self.init(durations: source.durations, loopCount: source.loopCount, byteCount: source.byteCount) {
                let maker = try source.maker()
                return { try maker.frame(at: $0) }
            }
        }
    }
#endif
