#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// Files as other programs write them, within the rules and beside them; browsers and Pillow say what is right.
    @Suite("Foreign files", .bounded)
    struct ForeignFilesTests {
        // WebP

        @Test("a WebP is turned where its Exif begins as in a JPEG, too")
        func prefixedExif() throws {
            let plain = try Samples.data("webp-turned.webp")
            var data = plain
            let chunk = try #require(data.range(of: Data("EXIF".utf8))).lowerBound
            let length = Int(data[chunk + 4])
            data.insert(contentsOf: Array("Exif\0\0".utf8), at: chunk + 8)
            data[chunk + 4] = UInt8(length + 6)
            data.replaceSubrange(4..<8, with: little32(data.count - 8))
            #expect(ImageHeader(data)?.orientation == .right)
            #expect(try BitmapImage.decode(data) == BitmapImage.decode(plain))
        }

        @Test("a lossy WebP whose header denies its alpha is opaque, as in browsers", arguments: [0, 40])
        func deniedAlpha(side: Int) throws {
            var data = try Samples.data("detailed-bleeding.webp")
            data[20] &= ~0x10
            var plain = data
            plain.replaceSubrange(try #require(plain.range(of: Data("ALPH".utf8))), with: Data("none".utf8))
            let sizing = ImageSizing.maxPixelSize(side)
            let image = try BitmapImage.decode(data, sizing: sizing)
            #expect(try image == BitmapImage.decode(plain, sizing: sizing))
            #expect(image.isOpaque)
            #expect(
                image.withUnsafeBytes { pixels in
                    stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 }
                })
        }

        @Test("a lossless WebP may have alpha that the header denies, as in Pillow", arguments: [0, 40, 16])
        func losslessDeniedAlpha(side: Int) throws {
            let simple = try Samples.data("reduced-lossless.webp")
            let size = try #require(ImageHeader(simple))
            let header =
                Array("VP8X".utf8) + little32(10) + little32(0) + little32(size.pixelWidth - 1).prefix(3)
                + little32(size.pixelHeight - 1).prefix(3)
            var data = simple
            data.insert(contentsOf: header, at: 12)
            data.replaceSubrange(4..<8, with: little32(data.count - 8))
            let sizing = ImageSizing.maxPixelSize(side)
            let image = try BitmapImage.decode(data, sizing: sizing)
            #expect(try image == BitmapImage.decode(simple, sizing: sizing))
            #expect(!image.isOpaque)
        }

        @Test(
            "a lossless WebP is opaque if its bitstream denies the alpha, as in browsers and Pillow",
            arguments: [0, 40, 16])
        func losslessAlphaDeniedByBitstream(side: Int) throws {
            var data = try Samples.data("reduced-lossless.webp")
            data[24] &= ~0x10
            let image = try BitmapImage.decode(data, sizing: .maxPixelSize(side))
            #expect(image.isOpaque)
            #expect(
                image.withUnsafeBytes { pixels in
                    stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 }
                })
            #expect(BitmapImage(storedForm: image.storedForm) == image)
        }

        private func little32(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> ($0 * 8) & 255) } }

        // JPEG

        /// The sample with its profile in the parts that are given.
        private func jpeg(_ parts: [(number: Int, count: Int, range: Range<Int>)]) throws -> Data {
            let data = try Samples.data("icc-rgb.jpg")
            let name = try #require(data.range(of: Data("ICC_PROFILE\0".utf8))).lowerBound
            let length = Int(data[name - 2]) << 8 | Int(data[name - 1])
            let profile = data[(name + 14)..<(name - 2 + length)]
            var file = data[..<(name - 4)]
            for part in parts {
                let content = profile.dropFirst(part.range.lowerBound).prefix(part.range.count)
                let size = content.count + 16
                file += [0xFF, 0xE2, UInt8(size >> 8), UInt8(size & 255)] + Array("ICC_PROFILE\0".utf8)
                file += [UInt8(part.number), UInt8(part.count)] + content
            }
            return file + data[(name - 2 + length)...]
        }

        @Test("inks are inverted without Adobe's marker, too, as browsers have them", arguments: [0, 8])
        func inksWithoutMarker(_ side: Int) throws {
            let marked = try Samples.data("jpeg-cmyk.jpg")
            let name = try #require(marked.range(of: Data("Adobe".utf8))).lowerBound
            let length = Int(marked[name - 2]) << 8 | Int(marked[name - 1])
            let plain = marked[..<(name - 4)] + marked[(name - 2 + length)...]
            let sizing = ImageSizing.maxPixelSize(side)
            #expect(try BitmapImage.decode(plain, sizing: sizing) == BitmapImage.decode(marked, sizing: sizing))
        }

        @Test("of two Exif segments the first turns a JPEG")
        func twoExif() throws {
            func exif(_ data: Data) throws -> Data {
                let name = try #require(data.range(of: Data("Exif\0\0".utf8))).lowerBound
                return data[(name - 4)..<(name - 2 + Int(data[name - 2]) << 8 + Int(data[name - 1]))]
            }
            let (six, three) = try (Samples.data("jpeg-orientation-6.jpg"), Samples.data("jpeg-orientation-3.jpg"))
            let both = try six[..<2] + exif(three) + six[2...]
            #expect(ImageHeader(both)?.orientation == ImageHeader(three)?.orientation)
            #expect(ImageHeader(six)?.orientation != ImageHeader(three)?.orientation)
        }

        @Test("Exif turns a JPEG wherever it precedes the first scan")
        func exifBehindFrame() throws {
            let turned = try Samples.data("jpeg-orientation-6.jpg")
            let name = try #require(turned.range(of: Data("Exif\0\0".utf8))).lowerBound
            let exif = turned[(name - 4)..<(name - 2 + Int(turned[name - 2]) << 8 + Int(turned[name - 1]))]
            let frame = try #require(turned.range(of: Data([0xFF, 0xC0]), in: exif.endIndex..<turned.endIndex))
                .lowerBound
            let end = frame + 2 + Int(turned[frame + 2]) << 8 + Int(turned[frame + 3])
            let moved = turned[..<exif.startIndex] + turned[exif.endIndex..<end] + exif + turned[end...]
            #expect(ImageHeader(moved)?.orientation == ImageHeader(turned)?.orientation)
            #expect(try BitmapImage.decode(moved) == BitmapImage.decode(turned))
        }

        @Test("the parts of a JPEG's profile may come in any order")
        func profileInParts() throws {
            let whole = try BitmapImage.decode(Samples.data("icc-rgb.jpg"))
            #expect(try BitmapImage.decode(jpeg([(2, 2, 200..<10000), (1, 2, 0..<200)])) == whole)
            #expect(try BitmapImage.decode(jpeg([])) != whole)
        }

        @Test(
            "a JPEG's profile whose parts are numbered wrongly is ignored",
            arguments: [
                [(0, 1)], [(2, 1)], [(1, 2)], [(1, 0)], [(0, 2), (1, 2)], [(1, 2), (1, 2)], [(1, 2), (2, 3)],
                [(1, 3), (2, 3)], [(1, 2), (3, 2)],
            ])
        func misnumberedProfile(_ parts: [(Int, Int)]) throws {
            let ranges = parts.count == 1 ? [0..<10000] : [0..<200, 200..<10000]
            let file = try jpeg(zip(parts, ranges).map { ($0.0, $0.1, $1) })
            #expect(try BitmapImage.decode(file) == BitmapImage.decode(jpeg([])))
        }

        /// Whether it is decoded, at each of several sizes.
        private func verdicts(_ data: Data) -> [Bool] {
            [0, 160, 100, 60, 40, 17].map { (try? BitmapImage.decode(data, sizing: .maxPixelSize($0))) != nil }
        }

        @Test(
            "a JPEG that was cut and closed again is decoded at every size, or at none",
            arguments: [
                "detailed-420.jpg", "detailed-422.jpg", "detailed-444-progressive.jpg", "detailed-422-progressive.jpg",
                "detailed-411-progressive.jpg", "detailed-arithmetic-progressive.jpg",
            ])
        func closedCuts(_ file: String) throws {
            let data = try Samples.data(file)
            for part in 1...40 {
                let cut = data.prefix(data.count * part / 41)
                #expect(Set(verdicts(cut + [0xFF, 0xD9])).count == 1, "closed after \(part) of 41")
                #expect(verdicts(cut).allSatisfy { !$0 }, "after \(part) of 41")
            }
        }

        @Test("a progressive JPEG may miss refinement, and nothing else")
        func cutRefinement() throws {
            let data = try Samples.data("detailed-444-progressive.jpg")
            #expect(verdicts(data.prefix(data.count - 1000) + [0xFF, 0xD9]).allSatisfy { $0 })
            #expect(verdicts(data.prefix(data.count / 10) + [0xFF, 0xD9]).allSatisfy { !$0 })
        }

        @Test(
            "a refining scan that makes no sense is an error at every size",
            arguments: [(2, 0x03), (3, 0x40), (4, 0x40), (5, 0x3E), (5, 0x31)])
        func brokenRefinement(_ byte: Int, _ value: Int) throws {
            var data = try Samples.data("detailed-444-progressive.jpg")
            let scan = try #require(data.range(of: Data([0xFF, 0xDA]), options: .backwards)).upperBound + 2
            data[scan + byte] = UInt8(value)
            #expect(verdicts(data).allSatisfy { !$0 })
        }

        @Test("scans that are passed over count, too")
        func scanLimit() throws {
            var data = try Samples.data("detailed-444-progressive.jpg")
            let scan = try #require(data.range(of: Data([0xFF, 0xDA]), options: .backwards)).lowerBound
            let last = data[scan..<(data.count - 2)]
            for _ in 0..<100 { data.insert(contentsOf: last, at: scan) }
            #expect(verdicts(data).allSatisfy { !$0 })
        }

        // AVIF, HEIC

        /// The transformative properties of a picture of 60 × 40 pixels.
        private static let properties: [String: [UInt8]] = [
            "clap": HEIFFile.box("clap", [30, 1, 20, 1, 5, 1, -4, 1].flatMap { HEIFFile.big32($0) }),
            "irot": HEIFFile.box("irot", [1]), "imir": HEIFFile.box("imir", [1]), "flip": HEIFFile.box("imir", [0]),
        ]

        struct Transforms: Sendable {
            let names: [String]
            let crop: PixelArea?
            let orientation: ImageOrientation

            init(_ names: [String], _ crop: (x: Int, y: Int, width: Int, height: Int)?, _ orientation: ImageOrientation)
            {
                self.names = names
                self.orientation = orientation
                self.crop = crop.map {
                    PixelArea(x: $0.x, y: $0.y, size: PixelSize(width: $0.width, height: $0.height))
                }
            }
        }

        @Test(
            "a HEIF picture is cropped, turned and mirrored in the order of the file",
            arguments: [
                Transforms(["clap"], (20, 6, 30, 20), .up), Transforms(["clap", "irot"], (20, 6, 30, 20), .left),
                Transforms(["irot", "clap"], (24, 10, 20, 30), .left),
                Transforms(["imir", "clap"], (10, 6, 30, 20), .upMirrored),
                Transforms(["imir", "irot"], nil, .leftMirrored), Transforms(["irot", "imir"], nil, .rightMirrored),
                Transforms(["flip", "irot"], nil, .rightMirrored),
                Transforms(["irot", "irot", "irot", "irot"], nil, .up),
            ])
        func transforms(_ transforms: Transforms) throws {
            let (names, crop, orientation) = (transforms.names, transforms.crop, transforms.orientation)
            let boxes = try names.map { try #require(Self.properties[$0]) }
            let file = HEIFFile(
                items: [.init(properties: (1...UInt8(boxes.count + 1)).map { $0 })],
                properties: [HEIFFile.size(60, 40)] + boxes)
            let header = try #require(ImageHeader(file.data))
            #expect(header.crop == crop)
            #expect(header.orientation == orientation)
            #expect(header.pixelWidth == crop?.size.width ?? 60 && header.pixelHeight == crop?.size.height ?? 40)
        }

        /// A picture of 60 × 40 pixels, and a thumbnail that is turned to the left.
        private func withThumbnail(_ associated: [[Int]], primary: [UInt8] = [1]) throws -> ImageHeader? {
            var file = HEIFFile(
                items: [.init(properties: primary), .init(properties: [2, 3])],
                properties: [HEIFFile.size(60, 40), HEIFFile.size(6, 4)])
            file.properties.append(try #require(Self.properties["irot"]))
            file.associated = associated
            return ImageHeader(file.data)
        }

        @Test(
            "the properties of a HEIF picture may be in any box of associations", arguments: [[[2], [1]], [[1], [2]]])
        func associationBoxes(_ associated: [[Int]]) throws {
            let header = try #require(try withThumbnail(associated))
            #expect((header.pixelWidth, header.orientation) == (60, .up))
            let turned = try #require(try withThumbnail(associated, primary: [1, 3]))
            #expect((turned.pixelWidth, turned.orientation) == (60, .left))
        }

        @Test(
            "a HEIF picture without properties, or with two lists of them, is an error",
            arguments: [[], [[2]], [[2], [2]], [[1, 2], [1]], [[1, 1, 2]]])
        func ambiguousAssociations(_ associated: [[Int]]) throws {
            #expect(try withThumbnail(associated) == nil)
        }

        @Test("what a HEIF picture is cut to is cut to what there is, and ignored where nothing is left")
        func oddCrops() {
            func crop(_ numbers: [Int]) -> PixelArea? {
                let box = HEIFFile.box("clap", numbers.flatMap { HEIFFile.big32($0) })
                let file = HEIFFile(
                    items: [.init(properties: [1, 2])], properties: [HEIFFile.size(60, 40), box])
                return ImageHeader(file.data)?.crop
            }
            #expect(crop([30, 1, 40, 1, 40, 1, 0, 1]) == PixelArea(x: 55, y: 0, size: PixelSize(width: 5, height: 40)))
            #expect(crop([61, 2, 40, 1, 1, 4, 0, 1]) == PixelArea(x: 15, y: 0, size: PixelSize(width: 30, height: 40)))
            for numbers in [[30, 0, 40, 1, 0, 1, 0, 1], [0, 1, 40, 1, 0, 1, 0, 1], [30, 1, 40, 1, 90, 1, 0, 1]] {
                #expect(crop(numbers) == nil)
            }
        }
    }
#endif
