#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// GIF and APNG beside the rules; browsers and Pillow say what is right.
    @Suite("Foreign animations", .bounded)
    struct ForeignAnimationsTests {
        // GIF

        /// A frame of two pixels, of the colours 0 and 1, or of none.
        private func frame(x: Int = 0, y: Int = 0, width: Int = 2, data: [UInt8] = [2, 2, 0x44, 0x0A, 0]) -> [UInt8] {
            [0x2C] + [x, y, width, 1].flatMap { [UInt8($0), 0] } + [0] + data
        }

        private func gif(_ width: Int, _ height: Int, _ frames: [UInt8]..., colours: [UInt8] = [9, 8, 7, 1, 2, 3])
            -> Data
        {
            let screen = Array("GIF89a".utf8) + [UInt8(width), 0, UInt8(height), 0, colours.isEmpty ? 0 : 0x80, 0, 0]
            return Data(screen + colours + frames.joined() + [0x3B])
        }

        /// The pixels as BGRA, one number each.
        private func pixels(_ image: BitmapImage) -> [UInt32] {
            image.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
        }

        private static let (first, second): (UInt32, UInt32) = (0xFF09_0807, 0xFF01_0203)

        @Test("a first frame beyond the screen enlarges the canvas")
        func largeFirstFrame() throws {
            let data = gif(1, 1, frame(x: 1, y: 1), frame())
            let header = try #require(ImageHeader(data))
            #expect((header.pixelWidth, header.pixelHeight) == (3, 2))
            #expect(try pixels(BitmapImage.decode(data)) == [0, 0, 0, 0, Self.first, Self.second])
            let animation = try AnimatedImage(data: data)
            #expect(
                try pixels(animation.frame(at: 1)) == [Self.first, Self.second, 0, 0, Self.first, Self.second])
        }

        @Test("a later frame beyond the screen is cut")
        func largeLaterFrame() throws {
            let data = gif(1, 1, frame(width: 1, data: [2, 2, 0x44, 0x01, 0]), frame())
            #expect(ImageHeader(data)?.pixelWidth == 1)
            #expect(try pixels(AnimatedImage(data: data).frame(at: 1)) == [Self.first])
        }

        @Test("the size of a GIF is that of its screen where its first frame is not there yet")
        func headerOfPart() throws {
            let data = gif(5, 4, [0x21, 0xFE, 3, 1, 2, 3, 0], frame(x: 9))
            #expect(ImageHeader(data)?.pixelWidth == 11)
            #expect(ImageHeader(data.prefix(22))?.pixelWidth == 5)
        }

        @Test("a frame without colours of any kind is grey")
        func noColours() throws {
            let data = gif(2, 1, frame(), colours: [])
            #expect(try pixels(BitmapImage.decode(data)) == [0xFF00_0000, 0xFF01_0101])
            let two = gif(2, 1, frame(), frame(), colours: [])
            #expect(try pixels(AnimatedImage(data: two).frame(at: 1)) == [0xFF00_0000, 0xFF01_0101])
        }

        @Test("a colour beyond the end of its table is black")
        func missingColour() throws {
            // The codes clear, 2, 3, end.
            let data = gif(2, 1, frame(data: [2, 2, 0xD4, 0x0A, 0]))
            #expect(try pixels(BitmapImage.decode(data)) == [0xFF00_0000, 0xFF00_0000])
        }

        @Test("a first frame of no size is an empty picture, alone and in an animation")
        func emptyFrame() throws {
            let empty = frame(width: 0)
            #expect(try pixels(BitmapImage.decode(gif(2, 1, empty))) == [0, 0])
            let two = gif(2, 1, empty, frame())
            #expect(try pixels(BitmapImage.decode(two)) == [0, 0])
            #expect(try pixels(AnimatedImage(data: two).frame(at: 0)) == [0, 0])
            #expect(try pixels(AnimatedImage(data: two).frame(at: 1)) == [Self.first, Self.second])
        }

        @Test("a frame of no size that is cut short is an error, alone and in an animation")
        func cutEmptyFrame() {
            let data = gif(2, 1, frame(width: 0, data: [2, 200, 1]))
            #expect(throws: ImageError.corrupt(.gif, "the data ends too early")) { try BitmapImage.decode(data) }
            #expect(throws: ImageError.self) { try AnimatedImage(data: data) }
        }

        /// The codes clear, 0, end: the first of two pixels.
        private static let short: [UInt8] = [2, 2, 0x44, 0x01, 0]

        @Test("a frame whose data end early leaves pixels transparent, so the picture is not opaque")
        func missingPixels() throws {
            #expect(try BitmapImage.decode(gif(2, 1, frame())).isOpaque)
            let image = try BitmapImage.decode(gif(2, 1, frame(data: Self.short)))
            #expect(pixels(image) == [Self.first, 0])
            #expect(!image.isOpaque)
        }

        @Test(
            "earlier frames show through missing pixels, in whatever order frames are requested",
            arguments: [[2], [0, 2], [1, 2], [2, 1, 2]])
        func missingPixelsOfLaterFrame(_ order: [Int]) throws {
            // The codes clear, 1, 1, end.
            let other = frame(data: [2, 2, 0x4C, 0x0A, 0])
            let animation = try AnimatedImage(data: gif(2, 1, frame(), other, frame(data: Self.short)))
            let expected = [[Self.first, Self.second], [Self.second, Self.second], [Self.first, Self.second]]
            for index in order { #expect(try pixels(animation.frame(at: index)) == expected[index]) }
        }

        @Test(
            "a whole frame that is removed again shows the frames before it, in whatever order frames are requested",
            arguments: [[2], [0, 1, 2, 0, 1, 2], [2, 1, 2, 0]])
        func wholeFrameRestored(_ order: [Int]) throws {
            let restored = [0x21, 0xF9, 4, 3 << 2, 0, 0, 0, 0] + frame(data: [2, 2, 0x4C, 0x0A, 0])
            let patch = frame(x: 1, width: 1, data: Self.short)
            let animation = try AnimatedImage(data: gif(2, 1, frame(), restored, patch))
            let expected = [[Self.first, Self.second], [Self.second, Self.second], [Self.first, Self.first]]
            for index in order { #expect(try pixels(animation.frame(at: index)) == expected[index]) }
        }

        @Test("disposal method 4 is taken for 3, as in browsers")
        func disposalFour() throws {
            let three = try Samples.data("gif-disposal-3.gif")
            var four = three
            for place in three.indices.dropLast(8) where Array(three[place..<place + 4]) == [0x21, 0xF9, 4, 0x0D] {
                four[place + 3] = 4 << 2 | 1
            }
            #expect(four != three)
            let (expected, animation) = try (AnimatedImage(data: three), AnimatedImage(data: four))
            for index in 0..<expected.frameCount {
                #expect(try animation.frame(at: index) == expected.frame(at: index))
            }
        }

        // APNG

        /// A sample with the number at an offset inside of the n-th chunk of a name changed.
        private func changed(
            _ file: String, _ chunk: String, _ index: Int = 0, at offset: Int = 3, to number: UInt8
        ) throws -> Data {
            var data = try Samples.data(file)
            var start = data.startIndex
            for _ in 0...index {
                start = try #require(data[start...].range(of: Data(chunk.utf8))).upperBound
            }
            data[start + offset] = number
            return data
        }

        @Test("an APNG of no frames is the picture that decoders without animation show")
        func noFrames() throws {
            let data = try changed("apng-hidden.png", "acTL", to: 0)
            let animation = try AnimatedImage(data: data)
            let shown = try BitmapImage.decode(data)
            #expect(animation.frameCount == 1 && animation.firstFrame == shown)
            #expect(try shown != BitmapImage.decode(Samples.data("apng-hidden.png")))
            // The same without any control chunk.
            var plain = try Samples.data("apng-hidden.png")
            let control = try #require(plain.range(of: Data("acTL".utf8)))
            plain.replaceSubrange(control, with: Data("abTL".utf8))
            #expect(try shown == BitmapImage.decode(plain))
        }

        @Test(
            "an APNG whose default image is a frame of another size or place than the canvas is a still picture",
            arguments: [[(7, 20)], [(11, 20)], [(7, 20), (15, 4)], [(11, 20), (19, 4)]])
        func contradictoryFrame(_ changes: [(offset: Int, value: UInt8)]) throws {
            let file = "apng-soft-keep-blend.png"
            var data = try Samples.data(file)
            let start = try #require(data.range(of: Data("fcTL".utf8))).upperBound
            for change in changes { data[start + change.offset] = change.value }
            let animation = try AnimatedImage(data: data)
            #expect(animation.frameCount == 1)
            let whole = try BitmapImage.decode(Samples.data(file))
            #expect(animation.firstFrame == whole)
            #expect(try BitmapImage.decode(data) == whole)
            #expect(try animation.frame(at: 0) == whole)
        }

        @Test("the control chunk of an APNG, and Exif of a PNG, may come after many other chunks")
        func manyChunks() throws {
            func prefixed(_ file: String) throws -> Data {
                var data = try Samples.data(file)
                let chunk = [0, 0, 0, 3] + Array("tEXta\0b".utf8) + [0, 0, 0, 0]
                data.insert(contentsOf: [[UInt8]](repeating: chunk, count: 1000).joined(), at: 33)
                return data
            }
            let file = "apng-hidden.png"
            let (expected, animation) = try (
                AnimatedImage(data: Samples.data(file)), AnimatedImage(data: prefixed(file))
            )
            #expect(animation.frameCount == expected.frameCount)
            #expect(animation.firstFrame == expected.firstFrame)
            #expect(try BitmapImage.decode(prefixed(file)) == BitmapImage.decode(Samples.data(file)))
            #expect(try ImageHeader(prefixed("png-orientation-6.png"))?.orientation == .right)
        }

        @Test("an APNG whose number of frames is out of range is the picture without animation, too")
        func impossibleNumberOfFrames() throws {
            var data = try Samples.data("apng-hidden.png")
            let start = try #require(data.range(of: Data("acTL".utf8))).upperBound
            data[start] = 0x80
            #expect(try AnimatedImage(data: data).frameCount == 1)
            #expect(try BitmapImage.decode(data) == BitmapImage.decode(changed("apng-hidden.png", "acTL", to: 0)))
        }

        @Test("the control chunk of an APNG's first frame may come before that of the animation")
        func lateControl() throws {
            let data = try Samples.data("apng-soft-keep-blend.png")
            let control = try #require(data.range(of: Data("acTL".utf8))).lowerBound - 4
            let frame = try #require(data.range(of: Data("fcTL".utf8))).lowerBound - 4
            #expect(frame == control + 20)
            let late = data[..<control] + data[frame..<(frame + 38)] + data[control..<frame] + data[(frame + 38)...]
            let (expected, animation) = try (AnimatedImage(data: data), AnimatedImage(data: Data(late)))
            #expect(animation.frameCount == expected.frameCount)
            #expect(animation.firstFrame == expected.firstFrame)
        }

        @Test("frames beyond the number that an APNG announces are ignored")
        func surplusFrames() throws {
            let whole = try AnimatedImage(data: Samples.data("apng-soft-keep-blend.png"))
            #expect(whole.frameCount > 2)
            let cut = try AnimatedImage(data: changed("apng-soft-keep-blend.png", "acTL", to: 2))
            #expect(cut.frameCount == 2)
            #expect(try cut.frame(at: 1) == whole.frame(at: 1))
        }

        @Test("an APNG that has fewer frames than it announces has these, as in browsers; but it needs its end")
        func missingFrames() throws {
            let whole = try AnimatedImage(data: Samples.data("apng-soft-keep-blend.png"))
            let data = try changed("apng-soft-keep-blend.png", "acTL", to: 200)
            let animation = try AnimatedImage(data: data)
            #expect(animation.frameCount == whole.frameCount)
            #expect(try animation.frame(at: whole.frameCount - 1) == whole.frame(at: whole.frameCount - 1))
            #expect(throws: ImageError.corrupt(.png, "frames are missing")) {
                try AnimatedImage(data: data.dropLast(12))
            }
        }

        @Test(
            "chunks of an APNG that are not in order are an error; its first frame is shown",
            arguments: ["fcTL", "fdAT"])
        func disorder(_ chunk: String) throws {
            let file = "apng-soft-keep-blend.png"
            let data = try changed(file, chunk, 1, to: 77)
            #expect(throws: ImageError.corrupt(.png, "frames are missing")) { try AnimatedImage(data: data) }
            #expect(try BitmapImage.decode(data) == BitmapImage.decode(Samples.data(file)))
        }
    }
#endif
