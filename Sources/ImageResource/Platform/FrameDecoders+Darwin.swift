#if canImport(ImageIO)
    import Foundation
    import ImageCodecs
    import ImageIO

    /// ImageIO decodes animations and composes their frames itself.
    extension FrameDecoders {
        init(_ data: Data, sizing: ImageSizing) throws {
            let file = try ImageIOSource(data)
            // Several pictures are not always an animation: a TIFF has pages, a HEIC has thumbnails.
            let isAnimated = file.count > 1 && AnimationProperties.exist(in: file.properties(at: 0))
            let durations =
                isAnimated ? (0..<file.count).map { AnimationProperties.duration(file.properties(at: $0)) } : [0]
            let first = durations.count > 1 ? 0 : file.primary
            self.init(
                durations: durations,
                loopCount: GIFFile.loopCount(of: data) ?? AnimationProperties.loops(file.fileProperties),
                byteCount: Int(clamping: Int64(data.count) + Int64(file.uprightSize.bytes))
            ) {
                { PlatformImage.make(try file.picture(at: first + $0, sizing: sizing), scale: sizing.scale) }
            }
        }
    }

    /// What ImageIO knows about an animation.
    private enum AnimationProperties {
        /// Where each animated format keeps its durations. This is computed each time because `CFString` is not `Sendable`.
        private static var dictionaries: [(name: CFString, delays: [CFString], loops: CFString)] {
            [
                (
                    kCGImagePropertyGIFDictionary,
                    [kCGImagePropertyGIFUnclampedDelayTime, kCGImagePropertyGIFDelayTime], kCGImagePropertyGIFLoopCount
                ),
                (
                    kCGImagePropertyPNGDictionary,
                    [kCGImagePropertyAPNGUnclampedDelayTime, kCGImagePropertyAPNGDelayTime],
                    kCGImagePropertyAPNGLoopCount
                ),
                (
                    kCGImagePropertyWebPDictionary,
                    [kCGImagePropertyWebPUnclampedDelayTime, kCGImagePropertyWebPDelayTime],
                    kCGImagePropertyWebPLoopCount
                ),
            ]
        }

        static func exist(in properties: [CFString: Any]) -> Bool {
            dictionaries.contains { properties[$0.name] != nil }
        }

        static func duration(_ properties: [CFString: Any]) -> TimeInterval {
            for (name, delays, _) in dictionaries {
                guard let values = properties[name] as? [CFString: Any] else { continue }
                let seconds = delays.lazy.compactMap { values[$0] as? Double }.first
                return AnimationFrame.shownDuration(seconds ?? 0)
            }
            return AnimationFrame.shownDuration(0)
        }

        /// How often an animation plays. Not for GIF: if the file says 2, some versions of ImageIO return 2 and others 3.
        static func loops(_ properties: [CFString: Any]) -> Int {
            for (name, _, loops) in dictionaries {
                guard let values = properties[name] as? [CFString: Any] else { continue }
                return values[loops] as? Int ?? 1
            }
            return 1
        }
    }
#endif
