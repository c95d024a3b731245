#if AVIF && !canImport(ImageIO)
    import CAVIF
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// AVIF that Debian's libavif 0.11 takes for something else.
    @Suite("AVIF containers", .bounded)
    struct AVIFGridTests {
        private let tiles: [(configuration: [UInt8], stream: [UInt8])]
        private static let side = 64

        init() throws {
            tiles = try [1, 2].map { number in
                let data = try Samples.data("avif-tile-\(number).avif")
                func content(_ name: String) throws -> [UInt8] {
                    let place = try #require(data.range(of: Data(name.utf8))).lowerBound
                    let length = data[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
                    return [UInt8](data[(place + 4)..<(place - 4 + length)])
                }
                return try (content("av1C"), content("mdat"))
            }
        }

        private var properties: [[UInt8]] {
            [
                HEIFFile.size(Self.side, Self.side), HEIFFile.box("av1C", tiles[0].configuration),
                HEIFFile.box("pixi", [0, 0, 0, 0, 3, 8, 8, 8]), HEIFFile.size(2 * Self.side, Self.side),
            ]
        }

        private func grid(_ order: [Int]) -> HEIFFile {
            let size = [0, 0, 0, 1] + HEIFFile.big16(2 * Self.side) + HEIFFile.big16(Self.side)
            return HEIFFile(
                items: [.init(type: "grid", data: size, properties: [4, 3])]
                    + tiles.map { .init(type: "av01", data: $0.stream, properties: [1, 2, 3]) },
                properties: properties, references: [.init(type: "dimg", from: 1, to: order)], brand: "avif")
        }

        @Test("the tiles of a grid are set side by side")
        func inOrder() throws {
            let image = try BitmapImage.decode(grid([2, 3]).data)
            for number in [0, 1] {
                let tile = try BitmapImage.decode(Samples.data("avif-tile-\(number + 1).avif"))
                #expect(image.cropped(x: number * Self.side, y: 0, width: Self.side, height: Self.side) == tile)
            }
        }

        private static let mixedUp = ImageError.corrupt(
            .avif, "libavif \(String(cString: avifVersion())) may misplace or omit tiles of the grid")

        @Test("a grid that names its tiles in another order than the file lists them is refused")
        func reversed() {
            #expect(throws: Self.mixedUp) { try BitmapImage.decode(grid([3, 2]).data) }
        }

        @Test("a grid of alpha in another order is refused, and so is alpha of tiles alone")
        func alpha() throws {
            var file = grid([2, 3])
            let size = file.items[0]
            file.items += [size, file.items[1], file.items[2]]
            file.references += [.init(type: "auxl", from: 4, to: [1]), .init(type: "dimg", from: 4, to: [6, 5])]
            #expect(throws: Self.mixedUp) { try BitmapImage.decode(file.data) }
            file = grid([2, 3])
            file.items += [file.items[1], file.items[2]]
            file.references += [.init(type: "auxl", from: 4, to: [2]), .init(type: "auxl", from: 5, to: [3])]
            #expect(throws: Self.mixedUp) { try BitmapImage.decode(file.data) }
        }

        @Test("a grid of alpha in the file's order gives each tile its own alpha")
        func alphaInOrder() throws {
            let role = [UInt8]("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8)
            let properties = properties + [HEIFFile.box("auxC", [0, 0, 0, 0] + role)]
            func alpha(_ type: String, _ data: [UInt8], size: UInt8) -> HEIFFile.Item {
                .init(type: type, data: data, properties: [size, 2, 3, 5])
            }
            // The alpha of each tile is the brightness of the other.
            var file = grid([2, 3])
            file.properties = properties
            file.items += [alpha("grid", file.items[0].data, size: 4)]
            file.items += [1, 0].map { alpha("av01", tiles[$0].stream, size: 1) }
            file.references += [.init(type: "auxl", from: 4, to: [1]), .init(type: "dimg", from: 4, to: [5, 6])]
            let image = try BitmapImage.decode(file.data)
            for number in [0, 1] {
                let single = HEIFFile(
                    items: [grid([2, 3]).items[number + 1], alpha("av01", tiles[1 - number].stream, size: 1)],
                    properties: properties, references: [.init(type: "auxl", from: 2, to: [1])], brand: "avif")
                let expected = try BitmapImage.decode(single.data)
                #expect(image.cropped(x: number * Self.side, y: 0, width: Self.side, height: Self.side) == expected)
                #expect(try expected != BitmapImage.decode(Samples.data("avif-tile-\(number + 1).avif")))
            }
        }

        @Test("premultiplied colours are limited to their alpha")
        func premultiplied() throws {
            let role = [UInt8]("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8)
            // The alpha of the second tile is the brightness of the first.
            let file = HEIFFile(
                items: [
                    .init(type: "av01", data: tiles[1].stream, properties: [1, 2, 3]),
                    .init(type: "av01", data: tiles[0].stream, properties: [1, 2, 3, 5]),
                ],
                properties: properties + [HEIFFile.box("auxC", [0, 0, 0, 0] + role)],
                references: [.init(type: "auxl", from: 2, to: [1]), .init(type: "prem", from: 1, to: [2])],
                brand: "avif")
            let image = try BitmapImage.decode(file.data)
            let tile = try BitmapImage.decode(Samples.data("avif-tile-2.avif"))
            let (pixel, whole) = (
                image.withUnsafeBytes { Array($0.prefix(4)) }, tile.withUnsafeBytes { Array($0.prefix(4)) }
            )
            #expect(pixel[3] < whole[1])
            #expect(pixel == whole.map { min($0, pixel[3]) })
            #expect(Set(image.withUnsafeBytes { $0.bindMemory(to: UInt32.self).map { $0 } }).count == 1)
        }

        /// Another item refers to the second tile before the grid does.
        private func secondFirst(_ order: [Int]) -> HEIFFile {
            var file = grid(order)
            file.order = ["pitm", "iref", "iinf", "iloc", "iprp"]
            file.references.insert(.init(type: "cdsc", from: 3, to: [1]), at: 0)
            return file
        }

        @Test("the order of tiles counts in whatever box they are first mentioned")
        func otherBoxesFirst() throws {
            let expected = try BitmapImage.decode(grid([2, 3]).data)
            #expect(throws: Self.mixedUp) { try BitmapImage.decode(secondFirst([2, 3]).data) }
            // Here libavif and the grid agree.
            let swapped = try BitmapImage.decode(secondFirst([3, 2]).data)
            #expect(
                swapped.cropped(x: 64, y: 0, width: 64, height: 64)
                    == expected.cropped(x: 0, y: 0, width: 64, height: 64))
            // Properties are listed by number, whatever the others say.
            var file = grid([3, 2])
            file.listing = [1, 3, 2]
            #expect(try BitmapImage.decode(file.data) == swapped)
            file.order = ["pitm", "iprp", "iinf", "iloc", "iref"]
            #expect(throws: Self.mixedUp) { try BitmapImage.decode(file.data) }
            file.references = [.init(type: "dimg", from: 1, to: [2, 3])]
            #expect(try BitmapImage.decode(file.data) == expected)
        }

        @Test("a tile that belongs to another grid, too, makes the file an error")
        func sharedTile() {
            var file = grid([2, 3])
            file.items.append(file.items[2])
            file.references = [.init(type: "dimg", from: 1, to: [2, 3, 4]), .init(type: "dimg", from: 4, to: [2])]
            #expect(throws: Self.mixedUp) { try BitmapImage.decode(file.data) }
        }

        @Test("a grid in a file with surplus bytes or boxes is an error, but a single picture is not")
        func surplus() throws {
            let junk = Data([1, 2, 3])
            let ambiguous = ImageError.corrupt(.avif, "the tiles of the grid are ambiguous")
            #expect(throws: ambiguous) { try BitmapImage.decode(grid([3, 2]).data + junk) }
            var file = grid([3, 2])
            file.order.append("pitm")
            #expect(throws: ImageError.self) { try BitmapImage.decode(file.data) }
            let single = try Samples.data("avif-tile-1.avif")
            #expect(try BitmapImage.decode(single + junk) == BitmapImage.decode(single))
        }

        @Test("a track of sound does not matter", arguments: ["avis", "avif"])
        func sound(brand: String) throws {
            var file = HEIFFile(
                items: [.init(type: "av01", data: tiles[0].stream, properties: [1, 2, 3])], properties: properties,
                brand: brand)
            let header = HEIFFile.box("tkhd", [0, 0, 0, 7] + [UInt8](repeating: 0, count: 80))
            let samples = HEIFFile.box("stbl", HEIFFile.box("stsd", [0, 0, 0, 0, 0, 0, 0, 0]))
            let none = [UInt8](repeating: 0, count: 13)
            let handler = HEIFFile.box("hdlr", [UInt8](none.prefix(8)) + [UInt8]("soun".utf8) + none)
            let media = HEIFFile.box("mdia", handler + HEIFFile.box("minf", samples))
            let movie = HEIFFile.box("moov", HEIFFile.box("trak", header + media))
            let expected = try BitmapImage.decode(Samples.data("avif-tile-1.avif"))
            #expect(try BitmapImage.decode(file.data + movie) == expected)
            file.movie = movie
            #expect(try BitmapImage.decode(file.data) == expected)
        }

        @Test("items may lie in a box without a length that describes them, too")
        func openEnded() throws {
            let file = HEIFFile(
                items: [.init(type: "av01", data: tiles[0].stream, properties: [1, 2, 3])], properties: properties,
                brand: "avif", isOpenEnded: true)
            #expect(try BitmapImage.decode(file.data) == BitmapImage.decode(Samples.data("avif-tile-1.avif")))
        }

        @Test("a picture whose properties are in the second box of associations is not turned with its thumbnail")
        func associationBoxes() throws {
            var file = HEIFFile(
                items: [1, 2].map { _ in .init(type: "av01", data: tiles[0].stream, properties: [1, 2, 3]) },
                properties: properties, references: [.init(type: "thmb", from: 2, to: [1])], brand: "avif")
            file.properties.append(HEIFFile.box("irot", [1]))
            file.items[1].properties.append(5)
            file.associated = [[2], [1]]
            #expect(try BitmapImage.decode(file.data) == BitmapImage.decode(Samples.data("avif-tile-1.avif")))
        }

        private func single(_ colours: [UInt8]?) -> HEIFFile {
            var file = HEIFFile(
                items: [.init(type: "av01", data: tiles[0].stream, properties: [1, 2, 3])], properties: properties,
                brand: "avif")
            if let colours {
                file.properties.append(HEIFFile.box("colr", colours))
                file.items[0].properties.append(5)
            }
            return file
        }

        /// Code points of H.273: primaries, transfer function and the matrix of the sample.
        private func points(_ primaries: Int, _ transfer: Int) -> [UInt8] {
            Array("nclx".utf8) + [primaries, transfer, 0].flatMap(HEIFFile.big16) + [0x80]
        }

        @Test("code points of Display P3 mean the same as its profile")
        func displayP3() throws {
            let profile = try #require(
                Samples.data("detailed-p3.jpg").withUnsafeBytes { JPEGHeader.profile(ByteReader($0)) })
            let expected = try BitmapImage.decode(single(Array("prof".utf8) + profile).data)
            let plain = try BitmapImage.decode(single(nil).data)
            #expect(Pixels.decibels(expected, plain) < 45)
            #expect(try Pixels.decibels(BitmapImage.decode(single(points(12, 13)).data), expected) >= 45)
        }

        @Test(
            "code points of sRGB and of a high dynamic range change no pixel",
            arguments: [(1, 13), (1, 1), (2, 2), (9, 16)])
        func unconverted(_ primaries: Int, _ transfer: Int) throws {
            let plain = try BitmapImage.decode(single(nil).data)
            #expect(try BitmapImage.decode(single(points(primaries, transfer)).data) == plain)
        }

        @Test("a crop is applied to the pixels")
        func cropped() throws {
            let crop = HEIFFile.box("clap", [32, 1, 16, 1, 16, 1, 0, 1].flatMap { HEIFFile.big32($0) })
            var file = grid([2, 3])
            file.properties.append(crop)
            file.items[0].properties.append(5)
            let whole = try BitmapImage.decode(grid([2, 3]).data)
            #expect(try BitmapImage.decode(file.data) == whole.cropped(x: 64, y: 24, width: 32, height: 16))
        }
    }
#endif
