#if canImport(ImageIO)
    import Foundation
    import ImageIO

    /// The animations that ImageIO decodes; it puts frames together by itself.
    enum FrameSources {
        static func source(of data: Data, _ sizing: ImageSizing) throws -> any FrameSource {
            try ImageIOFrames(data)
        }
    }

    private struct ImageIOFrames: FrameSource, @unchecked Sendable {  // `file` is immutable, and ImageIO's thread-safe.
        private static let dictionaries: [(CFString, delays: [CFString], loops: CFString)] = [
            (
                kCGImagePropertyGIFDictionary,
                [kCGImagePropertyGIFUnclampedDelayTime, kCGImagePropertyGIFDelayTime], kCGImagePropertyGIFLoopCount
            ),
            (
                kCGImagePropertyPNGDictionary,
                [kCGImagePropertyAPNGUnclampedDelayTime, kCGImagePropertyAPNGDelayTime], kCGImagePropertyAPNGLoopCount
            ),
            (
                kCGImagePropertyWebPDictionary,
                [kCGImagePropertyWebPUnclampedDelayTime, kCGImagePropertyWebPDelayTime], kCGImagePropertyWebPLoopCount
            ),
        ]

        private let file: ImageIOSource
        private let fileSize: Int
        let durations: [TimeInterval]
        let loopCount: Int

        init(_ data: Data) throws {
            let file = try ImageIOSource(data)
            self.file = file
            fileSize = data.count
            durations = file.count > 1 ? (0..<file.count).map { Self.duration(file.properties(at: $0)) } : [0]
            loopCount = Self.loops(file.fileProperties)
        }

        var byteCount: Int { fileSize + file.uprightSize.bytes }

        func maker() throws -> any FrameMaker { Maker(file: file) }

        private static func duration(_ properties: [CFString: Any]) -> TimeInterval {
            for (name, delays, _) in dictionaries {
                guard let values = properties[name] as? [CFString: Any] else { continue }
                let seconds = delays.lazy.compactMap { values[$0] as? Double }.first
                return AnimationFrame.shownDuration(seconds ?? 0)
            }
            return AnimationFrame.shownDuration(0)
        }

        /// ImageIO counts how often it plays in all; a file without that plays once.
        private static func loops(_ properties: [CFString: Any]) -> Int {
            for (name, _, loops) in dictionaries {
                guard let values = properties[name] as? [CFString: Any] else { continue }
                return values[loops] as? Int ?? 1
            }
            return 1
        }

        private struct Maker: FrameMaker {
            let file: ImageIOSource

            func frame(at index: Int, _ sizing: ImageSizing) throws -> PlatformImage {
                PlatformImage.make(try file.picture(at: index, sizing), scale: sizing.scale)
            }
        }
    }
#endif
