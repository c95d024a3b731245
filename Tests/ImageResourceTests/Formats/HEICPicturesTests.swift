#if HEIC && !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("The memory that a HEIC file makes its decoder allocate", .bounded)
    struct HEICPicturesTests {
        /// The only tile of the sample, which is a grid: how its decoder is set up, and its stream.
        private let configuration: [UInt8]
        private let stream: [UInt8]
        /// Pixels of a side of it.
        private let side = 64

        init() throws {
            (configuration, stream) = try Samples.data("heic-plain.heic").withUnsafeBytes { bytes in
                let items = try #require(HEIFItems(ByteReader(bytes)))
                let tile = try #require(items.parts(of: items.primary).first)
                let content = try #require(items.content(of: tile))
                let configuration = try #require(items.configurations(of: tile).first)
                return ([UInt8](configuration.bytes), [UInt8](content.bytes))
            }
        }

        /// A file of one picture, as large as the tile by its header.
        private func picture(_ configuration: [UInt8], _ stream: [UInt8]) -> HEIFFile {
            HEIFFile(
                items: [.init(data: stream, properties: [1, 2])],
                properties: [HEIFFile.size(side, side), HEIFFile.box("hvcC", configuration)])
        }

        /// A file of a grid, one tile high, of the same tile.
        private func grid(columns: Int, width: Int, height: Int) -> HEIFFile {
            let size = [0, 1, 0, UInt8(columns - 1)] + HEIFFile.big32(width) + HEIFFile.big32(height)
            return HEIFFile(
                items: [.init(type: "grid", data: size, properties: [3]), .init(data: stream, properties: [1, 2])],
                properties: [
                    HEIFFile.size(side, side), HEIFFile.box("hvcC", configuration),
                    HEIFFile.size(width, height),
                ],
                references: [.init(type: "dimg", from: 1, to: Array(repeating: 2, count: columns))])
        }

        private func workingBytes(_ file: HEIFFile) -> Int? {
            file.data.withUnsafeBytes { HEICPictures(ByteReader($0))?.workingBytes }
        }

        @Test("a picture takes what its stream says")
        func onePicture() throws {
            let file = picture(configuration, stream)
            let image = try BitmapImage.decode(file.data)
            let sample = try BitmapImage.decode(Samples.data("heic-plain.heic"))
            #expect(image.width == side)
            #expect(image.cropped(x: 0, y: 0, width: sample.width, height: sample.height) == sample)
            #expect(workingBytes(file) == side * side * 17)
        }

        @Test("a profile that is too large is ignored")
        func largeProfile() throws {
            let plain = try BitmapImage.decode(picture(configuration, stream).data)
            var file = picture(configuration, stream)
            file.properties.append(
                HEIFFile.box("colr", Array("prof".utf8) + Array(repeating: 7, count: 4 << 20 + 65536)))
            file.items[0].properties.append(3)
            #expect(try BitmapImage.decode(file.data) == plain)
        }

        @Test(
            "a picture is cropped, turned and mirrored in the order of the file",
            arguments: [
                ["clap"], ["clap", "irot"], ["irot", "clap"], ["imir", "irot", "clap"], ["clap", "irot", "imir"],
            ])
        func transforms(_ names: [String]) throws {
            let (file, expected) = try transformed(picture(configuration, stream), names, items: [0])
            #expect(try BitmapImage.decode(file.data) == expected)
        }

        @Test(
            "alpha is cropped, turned and mirrored with its picture, whether or not the file repeats that",
            arguments: [
                ["clap"], ["irot"], ["imir"], ["irot", "irot"], ["clap", "irot"], ["irot", "clap"],
                ["imir", "irot", "clap"], ["clap", "irot", "imir"],
            ], [[0], [0, 1]])
        func transformsOfAlpha(_ names: [String], _ items: [Int]) throws {
            let plain = translucent()
            #expect(try !BitmapImage.decode(plain.data).isOpaque)
            let (file, expected) = try transformed(plain, names, items: items)
            #expect(try BitmapImage.decode(file.data) == expected)
            for side in [40, 17, 5] {
                let small = try BitmapImage.decode(file.data, sizing: .maxPixelSize(side))
                #expect(try Pixels.decibels(small, expected.resized(.maxPixelSize(side))) >= 50)
            }
        }

        /// A file of one picture whose alpha is its own brightness.
        private func translucent(isPremultiplied: Bool = false) -> HEIFFile {
            var file = picture(configuration, stream)
            let role = [UInt8]("urn:mpeg:hevc:2015:auxid:1\0".utf8)
            file.properties.append(HEIFFile.box("auxC", [0, 0, 0, 0] + role))
            file.items.append(.init(data: stream, properties: [1, 2, 3]))
            file.references = [.init(type: "auxl", from: 2, to: [1])]
            if isPremultiplied { file.references.append(.init(type: "prem", from: 1, to: [2])) }
            return file
        }

        @Test("premultiplied colours are limited to their alpha")
        func premultiplied() throws {
            let colours = try BitmapImage.decode(picture(configuration, stream).data)
            let alpha = try BitmapImage.decode(translucent().data)
            let image = try BitmapImage.decode(translucent(isPremultiplied: true).data)
            let expected = BitmapImage(width: side, height: side) { pixels in
                colours.withUnsafeBytes { colours in
                    alpha.withUnsafeBytes { alpha in
                        for index in pixels.indices { pixels[index] = min(colours[index], alpha[index | 3]) }
                    }
                }
            }
            #expect(image == expected)
            #expect(
                image.withUnsafeBytes { image in
                    colours.withUnsafeBytes { zip(image, $0).contains { $0 < $1 && $1 < 255 } }
                })
        }

        /// The same file with transformations of these items, and the picture that it then shows.
        private func transformed(
            _ file: HEIFFile, _ names: [String], items: [Int]
        ) throws -> (file: HEIFFile, image: BitmapImage) {
            let boxes = [
                "clap": HEIFFile.box("clap", [32, 1, 20, 1, 4, 1, -2, 1].flatMap { HEIFFile.big32($0) }),
                "irot": HEIFFile.box("irot", [1]), "imir": HEIFFile.box("imir", [1]),
            ]
            var file = file
            var expected = try BitmapImage.decode(file.data)
            for name in names {
                try file.properties.append(#require(boxes[name]))
                for item in items { file.items[item].properties.append(UInt8(file.properties.count)) }
                switch name {
                case "clap":
                    let (x, y) = ((expected.width - 32) / 2 + 4, (expected.height - 20) / 2 - 2)
                    expected = try #require(expected.cropped(x: x, y: y, width: 32, height: 20))
                default: expected = try turned(expected, name == "irot" ? .left : .upMirrored)
                }
            }
            return (file, expected)
        }

        private func turned(_ image: BitmapImage, _ orientation: ImageOrientation) throws -> BitmapImage {
            let canvas = try UprightCanvas(stored: image.buffer.size, orientation: orientation, cleared: false)
            canvas.put(image.buffer.base, stride: image.bytesPerRow, first: 0, count: image.height)
            return BitmapImage(canvas.buffer, scale: 1, isOpaque: image.isOpaque)
        }

        @Test("tiles of a grid are set side by side, and taken into account with it")
        func tiles() throws {
            let file = grid(columns: 2, width: 2 * side, height: side)
            let image = try BitmapImage.decode(file.data)
            let tile = try BitmapImage.decode(picture(configuration, stream).data)
            #expect(image.width == 2 * side)
            #expect(image.cropped(x: 0, y: 0, width: side, height: side) == tile)
            #expect(image.cropped(x: side, y: 0, width: side, height: side) == tile)
            #expect(workingBytes(file) == side * side * 17 + side * side * 2 * 16)
        }

        @Test(
            "a stream that announces more than the header is over the budget",
            arguments: [(true, 16000, 16000), (false, 65535, 65535), (true, 1_000_000, 1_000_000)])
        func largeStream(_ isInConfiguration: Bool, _ width: Int, _ height: Int) throws {
            let unit = SequenceParameterSet.unit(width, height)
            var file = picture(configuration, HEIFFile.big32(unit.count) + unit + stream)
            if isInConfiguration {
                let array = [33] + HEIFFile.big16(1) + HEIFFile.big16(unit.count) + unit
                file = picture(configuration.prefix(22) + [1] + array, stream)
            }
            let bytes = try #require(workingBytes(file))
            #expect(bytes >= 16 * width * height)
            #expect {
                try file.data.withUnsafeBytes {
                    try Decoding(ByteReader($0), sizing: .stored, budget: 1 << 30).picture()
                }
            } throws: {
                guard case .overBudget(let needed, 1 << 30) = $0 as? ImageError else { return false }
                return needed > bytes
            }
        }

        @Test("a grid that is larger than the header says is over the budget")
        func largeGrid() throws {
            var file = grid(columns: 1, width: 30000, height: 30000)
            file.properties[2] = HEIFFile.size(64, 64)
            #expect(throws: ImageError.self) {
                try file.data.withUnsafeBytes {
                    try Decoding(ByteReader($0), sizing: .stored, budget: 1 << 30).picture()
                }
            }
            #expect(try #require(workingBytes(file)) > 30000 * 30000 * 16)
        }

        static let refused: [String: @Sendable (inout HEIFFile) -> Void] = [
            "another codec": { $0.items[1].type = "av01" },
            "an overlay": { $0.items[0].type = "iovl" },
            "an identity": { $0.items[0].type = "iden" },
            "a grid of itself": { $0.references = [.init(type: "dimg", from: 1, to: [1])] },
            "a picture without data": { $0.items[1].data = [] },
            "two pictures in one item": { $0.items[1].data += $0.items[1].data },
            "far more tiles than picture": { file in
                file.references = [.init(type: "dimg", from: 1, to: Array(repeating: 2, count: 65535))]
            },
            "transparency of its own transparency": {
                $0.references += [.init(type: "auxl", from: 2, to: [1]), .init(type: "auxl", from: 1, to: [2])]
            },
            "units of nothing": { $0.items[1].data += [0, 0, 0, 0] },
            "units without number": { file in
                file.items[1].data += Array(repeating: [0, 0, 0, 2, 0x4E, 0x01], count: 4096).flatMap { $0 }
            },
            "no tile of that number": { $0.references = [.init(type: "dimg", from: 1, to: [2, 3])] },
        ]

        @Test(
            "what is no still picture, or grid of them, is refused before it is decoded",
            arguments: refused.keys.sorted())
        func refusal(_ what: String) throws {
            var file = grid(columns: 2, width: 2 * side, height: side)
            #expect(workingBytes(file) != nil)
            let change = try #require(Self.refused[what])
            change(&file)
            #expect(workingBytes(file) == nil)
            #expect(throws: ImageError.self) { try BitmapImage.decode(file.data) }
        }

        @Test("a duplicate of a unique box is corrupt")
        func twice() throws {
            let file = picture(configuration, stream).data
            let meta = try #require(file.range(of: Data("meta".utf8)))
            for name in ["pitm", "iloc", "iinf", "iprp"] {
                let place = try #require(file.range(of: Data(name.utf8))).lowerBound - 4
                let length = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
                let box = file[place..<place + length]
                var doubled = file
                doubled.insert(contentsOf: box, at: place)
                let size = file[meta.lowerBound - 4..<meta.lowerBound].reduce(0) { $0 << 8 | Int($1) }
                doubled.replaceSubrange(meta.lowerBound - 4..<meta.lowerBound, with: HEIFFile.big32(size + length))
                #expect(doubled.withUnsafeBytes { HEICPictures(ByteReader($0)) } == nil, "\(name)")
            }
        }
    }

    /// Writes sequence parameter sets (ITU-T H.265 §7.3.2.2.1), as far as the size of pictures.
    private enum SequenceParameterSet {
        static func unit(_ width: Int, _ height: Int) -> [UInt8] {
            var bits = "0000" + "000" + "1" + String(repeating: "10100101", count: 12)
            for number in [0, 1, width, height] { bits += exponential(number) }
            bits += "1"
            while bits.count % 8 != 0 { bits += "0" }
            var unit: [UInt8] = [0x42, 0x01]
            for start in stride(from: 0, to: bits.count, by: 8) {
                let from = bits.index(bits.startIndex, offsetBy: start)
                let byte = UInt8(bits[from..<bits.index(from, offsetBy: 8)], radix: 2) ?? 0
                if unit.suffix(2) == [0, 0], byte <= 3 { unit.append(3) }
                unit.append(byte)
            }
            return unit
        }

        private static func exponential(_ number: Int) -> String {
            let digits = String(number + 1, radix: 2)
            return String(repeating: "0", count: digits.count - 1) + digits
        }
    }
#endif
