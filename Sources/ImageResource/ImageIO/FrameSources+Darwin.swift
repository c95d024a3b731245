#if canImport(ImageIO)
    import Foundation
    import ImageIO

    /// The animations that ImageIO decodes; it puts frames together by itself.
    enum FrameSources {
        static func source(of data: Data, _ sizing: ImageSizing) throws -> any FrameSource {
            try ImageIOFrames(data, sizing)
        }
    }

    private struct ImageIOFrames: FrameSource, @unchecked Sendable {  // `file` is immutable, and ImageIO's thread-safe.
        /// Where formats that are animated keep their times. Made anew each time, because a `CFString` is not `Sendable`.
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

        private let file: ImageIOSource
        private let fileSize: Int
        private let sizing: ImageSizing
        let durations: [TimeInterval]
        let loopCount: Int

        init(_ data: Data, _ sizing: ImageSizing) throws {
            let file = try ImageIOSource(data)
            self.file = file
            fileSize = data.count
            self.sizing = sizing
            // Several pictures are not always an animation: a TIFF has pages, a HEIC thumbnails.
            let isAnimated = file.count > 1 && Self.isAnimated(file.properties(at: 0))
            durations = isAnimated ? (0..<file.count).map { Self.duration(file.properties(at: $0)) } : [0]
            loopCount = Self.loops(data) ?? Self.loops(file.fileProperties)
        }

        var byteCount: Int { fileSize + file.uprightSize.bytes }

        func maker() throws -> any FrameMaker {
            Maker(file: file, first: durations.count > 1 ? 0 : file.primary, sizing: sizing)
        }

        private static func isAnimated(_ properties: [CFString: Any]) -> Bool {
            dictionaries.contains { properties[$0.name] != nil }
        }

        private static func duration(_ properties: [CFString: Any]) -> TimeInterval {
            for (name, delays, _) in dictionaries {
                guard let values = properties[name] as? [CFString: Any] else { continue }
                let seconds = delays.lazy.compactMap { values[$0] as? Double }.first
                return AnimationFrame.shownDuration(seconds ?? 0)
            }
            return AnimationFrame.shownDuration(0)
        }

        /// How often a GIF plays: of one that says 2, some versions of ImageIO say 2 and others 3.
        private static func loops(_ data: Data) -> Int? {
            data.withUnsafeBytes { bytes in
                guard ImageFormat(ByteReader(bytes)) == .gif, var file = GIFFile(ByteReader(bytes)) else { return nil }
                _ = file.nextFrame()
                return file.loopCount
            }
        }

        /// Of others ImageIO counts how often they play in all; one that does not say plays once.
        private static func loops(_ properties: [CFString: Any]) -> Int {
            for (name, _, loops) in dictionaries {
                guard let values = properties[name] as? [CFString: Any] else { continue }
                return values[loops] as? Int ?? 1
            }
            return 1
        }

        private struct Maker: FrameMaker {
            let file: ImageIOSource
            let first: Int
            let sizing: ImageSizing

            func frame(at index: Int) throws -> PlatformImage {
                PlatformImage.make(try file.picture(at: first + index, sizing), scale: sizing.scale)
            }
        }
    }
#endif
