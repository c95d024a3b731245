#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// An animation of `Samples`, and what its frames look like.
    struct SampleAnimation: Decodable, Sendable, CustomTestStringConvertible {
        let file: String
        let expected: String
        let width: Int
        let height: Int
        let durations: [Double]
        let loops: Int
        let decibels: Double?

        var testDescription: String { file }

        static let all: [SampleAnimation] = {
            let list = try? JSONDecoder().decode([SampleAnimation].self, from: Samples.data("animations.json"))
            return list ?? []
        }()

        func data() throws -> Data { try Samples.data(file) }

        func frames() throws -> [BitmapImage] {
            let pixels = try Samples.data(expected)
            return try durations.indices.map { index in
                let frame = pixels.dropFirst(index * width * height * 4).prefix(width * height * 4)
                return try #require(BitmapImage(width: width, height: height) { _ = frame.copyBytes(to: $0) })
            }
        }
    }

    @Suite("AnimatedImage", .bounded)
    struct AnimatedImageTests {
        @Test("the samples are there")
        func samples() {
            #expect(SampleAnimation.all.count >= 20)
        }

        @Test("every frame of an animation has the expected pixels and duration", arguments: SampleAnimation.all)
        func frames(_ sample: SampleAnimation) throws {
            let animation = try AnimatedImage(data: sample.data())
            #expect(animation.loopCount == sample.loops)
            #expect(animation.frameCount == sample.durations.count)
            for (duration, expected) in zip(animation.durations, sample.durations) {
                #expect(abs(duration - expected) < 1e-9)
            }
            for (index, expected) in try sample.frames().enumerated() {
                let decibels = Pixels.decibels(try animation.frame(at: index), expected)
                #expect(decibels >= sample.decibels ?? .infinity, "frame \(index)")
            }
        }

        @Test("frames are the same in any order", arguments: SampleAnimation.all)
        func anyOrder(_ sample: SampleAnimation) throws {
            let animation = try AnimatedImage(data: sample.data())
            let inOrder = try (0..<animation.frameCount).map { try animation.frame(at: $0) }
            for index in (0..<animation.frameCount).reversed() + [0, animation.frameCount - 1, 1] {
                #expect(try animation.frame(at: index) == inOrder[index], "frame \(index)")
            }
        }

        @Test("ImageResource gives the first frame", arguments: SampleAnimation.all)
        func firstFrame(_ sample: SampleAnimation) throws {
            let image = try BitmapImage.decode(sample.data())
            let animation = try AnimatedImage(data: sample.data())
            #expect(image == animation.firstFrame)
            #expect(try animation.frame(at: 0) == image)
        }

        /// An animation, and where among its chunks a profile of another file's belongs.
        private static func profiled(_ file: String) throws -> Data {
            var bytes = [UInt8](try Samples.data(file))
            func place(of name: String, in bytes: [UInt8]) throws -> Int {
                try #require(bytes.indices.first { bytes[$0...].starts(with: Array(name.utf8)) })
            }
            if file.hasSuffix("png") {
                let source = [UInt8](try Samples.data("icc-rgb.png"))
                let start = try place(of: "iCCP", in: source) - 4
                let length = source[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
                bytes.insert(contentsOf: source[start..<start + 12 + length], at: 33)
            } else {
                let source = [UInt8](try Samples.data("icc-rgb.webp"))
                let start = try place(of: "ICCP", in: source)
                let length = source[start + 4..<start + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
                bytes.insert(contentsOf: source[start..<start + 8 + length + length & 1], at: 30)
                bytes[20] |= 0x20
            }
            return Data(bytes)
        }

        @Test(
            "frames are brought to sRGB as images are",
            arguments: [("apng-soft-keep-replace.png", 45), ("webp-animated-lossless.webp", 45)])
        func profiles(_ file: String, _ decibels: Double) throws {
            let profiled = try Self.profiled(file)
            let transform = try #require(
                profiled.withUnsafeBytes { bytes in
                    let reader = ByteReader(bytes)
                    return file.hasSuffix("png")
                        ? PNGDecoder.colours(reader) : ColorTransform(WebPHeader.profile(reader), model: .rgb)
                })
            let (plain, animation) = try (AnimatedImage(data: Samples.data(file)), AnimatedImage(data: profiled))
            #expect(animation.frameCount == plain.frameCount)
            for index in 0..<plain.frameCount {
                let before = try plain.frame(at: index)
                let expected = try before.buffer.copy()
                try transform.apply(to: expected, isOpaque: false)
                let frame = try animation.frame(at: index)
                // Frames are converted before they are blended, an APNG's even before they are multiplied by their alpha.
                let reference = BitmapImage(expected, isOpaque: false)
                #expect(Pixels.decibels(frame, reference) >= decibels, "frame \(index)")
                #expect(Pixels.decibels(frame, before) < 40)
            }
            #expect(try BitmapImage.decode(profiled) == animation.firstFrame)
        }

        @Test("frames are scaled like images")
        func scaled() throws {
            let data = try Samples.data("gif-disposal-1.gif")
            let animation = try AnimatedImage(data: data, sizing: .maxPixelSize(20))
            let full = try AnimatedImage(data: data).frame(at: 3)
            let frame = try animation.frame(at: 3)
            #expect(frame.width == 20 && frame.height == 15)
            #expect(try full.resized(.maxPixelSize(20)) == frame)
        }

        @Test("threads that ask for frames at the same time get the right ones")
        func manyThreads() throws {
            let animation = try AnimatedImage(data: Samples.data("gif-disposal-3.gif"))
            let expected = try (0..<5).map { try AnimatedImage(data: Samples.data("gif-disposal-3.gif")).frame(at: $0) }
            DispatchQueue.concurrentPerform(iterations: 60) { turn in
                #expect((try? animation.frame(at: turn % 5)) == expected[turn % 5])
            }
        }

        @Test("an animation of which a part is missing is an error", arguments: SampleAnimation.all)
        func truncated(_ sample: SampleAnimation) throws {
            let data = try sample.data()
            for percent in 0..<100 {
                let animation = try? AnimatedImage(data: data.prefix(data.count * percent / 100))
                // The last bytes may be a mark that there is no more.
                #expect(animation == nil || animation?.frameCount == sample.durations.count, "at \(percent) %")
                guard let animation else { continue }
                for (index, expected) in try sample.frames().enumerated() {
                    #expect(try Pixels.decibels(animation.frame(at: index), expected) >= sample.decibels ?? .infinity)
                }
            }
        }

        @Test("a frame whose control makes no sense is an error, and its pixels are no other frame's")
        func senselessControl() throws {
            var data = try Samples.data("apng-soft-keep-blend.png")
            let first = try #require(data.range(of: Data("fcTL".utf8)))
            let second = try #require(data.range(of: Data("fcTL".utf8), in: first.upperBound..<data.endIndex))
            let width = second.upperBound + 4
            data.replaceSubrange(width..<width + 4, with: [0, 0, 0, 0])
            #expect(throws: ImageError.corrupt(.png, "frames are missing")) { try AnimatedImage(data: data) }
        }

        @Test("a frame outside of the animation is an error")
        func outside() throws {
            let animation = try AnimatedImage(data: Samples.data("gif-disposal-1.gif"))
            #expect(throws: ImageError.noSuchFrame(5)) { try animation.frame(at: 5) }
            #expect(throws: ImageError.noSuchFrame(-1)) { try animation.frame(at: -1) }
        }

        @Test("an image that does not move is an animation of one frame")
        func still() throws {
            let animation = try AnimatedImage(data: Samples.data("png-rgb-8.png"))
            #expect(animation.frameCount == 1 && animation.duration == 0)
            #expect(animation.frameIndex(at: 5) == 0)
            #expect(try animation.frame(at: 0) == BitmapImage.decode(Samples.data("png-rgb-8.png")))
        }

        @Test(
            "the frame for a moment",
            arguments: [
                (-1, 0), (0, 0), (0.069, 0), (0.071, 1), (0.149, 1), (0.2, 2), (0.241, 3), (0.34, 4), (0.44, 4),
                (0.451, 0), (4.5 + 0.08, 1), (.infinity, 0), (.nan, 0),
            ] as [(Double, Int)])
        func moments(_ time: Double, _ index: Int) throws {
            // Frames of 70, 80, 90, 100 and 110 ms, for ever.
            let animation = try AnimatedImage(data: Samples.data("gif-disposal-0.gif"))
            #expect(animation.frameIndex(at: time) == index)
        }

        @Test("an animation that plays some times stays at its last frame")
        func ending() throws {
            let animation = try AnimatedImage(data: Samples.data("gif-parts.gif"))  // 220 ms, 5 times
            #expect(animation.frameIndex(at: 0.22 * 4 + 0.05) == 0)
            #expect(animation.frameIndex(at: 0.22 * 5 + 0.05) == 2)
        }

        @Test("the last frame that needs no other is where going back begins")
        func keyFrames() {
            let canvas = PixelSize(width: 10, height: 10)
            let whole = PixelArea(x: 0, y: 0, size: canvas)
            let part = PixelArea(x: 1, y: 1, size: PixelSize(width: 5, height: 5))
            let frames = [
                AnimationFrame(area: whole, duration: 1), AnimationFrame(area: part, duration: 1, replaces: true),
                AnimationFrame(area: whole, duration: 1, replaces: true), AnimationFrame(area: part, duration: 1),
                AnimationFrame(area: whole, duration: 1, disposal: .clear), AnimationFrame(area: part, duration: 1),
                AnimationFrame(area: whole, duration: 1, disposal: .restore, replaces: true),
                AnimationFrame(area: part, duration: 1),
            ]
            let starts = frames.indices.map { FrameCompositor.start(of: $0, in: frames, canvas: canvas) }
            #expect(starts == [0, 0, 2, 2, 2, 5, 5, 5])
        }
    }
#endif
