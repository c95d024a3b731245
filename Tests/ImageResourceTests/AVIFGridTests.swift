#if AVIF && !canImport(ImageIO)
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

        private static let mixedUp = ImageError.damaged(.avif, "libavif 0.11 would misplace or omit tiles of the grid")

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

        @Test("items may lie in a box without a length that describes them, too")
        func openEnded() throws {
            let file = HEIFFile(
                items: [.init(type: "av01", data: tiles[0].stream, properties: [1, 2, 3])], properties: properties,
                brand: "avif", isOpenEnded: true)
            #expect(try BitmapImage.decode(file.data) == BitmapImage.decode(Samples.data("avif-tile-1.avif")))
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
