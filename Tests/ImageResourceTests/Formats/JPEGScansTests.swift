#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// Progressive JPEGs beside the rules. Small sizes skip scans, but accept what the full size accepts, and nothing else.
    @Suite("Scans of a JPEG", .bounded)
    struct JPEGScansTests {
        /// A marker with its segment, and the data that follow the header of a scan.
        private struct Part {
            let marker: UInt8
            var bytes: [UInt8]

            var isScan: Bool { marker == 0xDA }
            var isTable: Bool { marker == 0xC4 }
            var isQuantization: Bool { marker == 0xDB }

            /// Huffman tables of so many codes of each length from 1 bit, for all coefficients but the mean.
            static func codes(_ lengths: [Int]) -> Part {
                let values = (0..<lengths.reduce(0, +)).map { UInt8($0) }
                let counts = lengths + Array(repeating: 0, count: 16 - lengths.count)
                let length = UInt8(19 + values.count)
                return Part(marker: 0xC4, bytes: [0xFF, 0xC4, 0, length, 0x10] + counts.map { UInt8($0) } + values)
            }

            /// A quantization table of ones.
            static let fine = Part(
                marker: 0xDB, bytes: [0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64))
        }

        private func parts(_ file: String) throws -> [Part] {
            let bytes = [UInt8](try Samples.data(file))
            var starts = [Int]()
            for offset in bytes.indices.dropLast() where bytes[offset] == 0xFF {
                if bytes[offset + 1] > 0x01, bytes[offset + 1] < 0xFF { starts.append(offset) }
            }
            return zip(starts, starts.dropFirst() + [bytes.count]).map {
                Part(marker: bytes[$0 + 1], bytes: Array(bytes[$0..<$1]))
            }
        }

        private func data(_ parts: [Part]) -> Data { Data(parts.flatMap(\.bytes)) }

        /// Whether the picture is decoded, at each of several sizes. Of the smallest, scans are skipped.
        private func verdicts(_ parts: [Part], _ sides: [Int]) -> [Bool] {
            sides.map { (try? BitmapImage.decode(data(parts), sizing: .maxPixelSize($0))) != nil }
        }

        private static let grey = "jpeg-grey-progressive.jpg"
        private static let greySides = [0, 20, 5, 2, 1]

        @Test(
            "Huffman tables of skipped scans are checked, too",
            arguments: [
                ([3], false), ([2], false), ([1, 2], false), ([0, 0, 8], false), ([0, 1, 7], false),
                ([1], true), ([], true), ([1, 1], true), ([0, 3, 2], false), ([0, 3, 1], true), ([0, 0, 7], true),
            ] as [([Int], Bool)])
        func tables(_ lengths: [Int], isValid: Bool) throws {
            var parts = try parts("detailed-444-progressive.jpg")
            let scan = try #require(parts.lastIndex { $0.isScan })
            parts.insert(.codes(lengths), at: scan)
            #expect(verdicts(parts, [0, 160, 100, 60, 40, 17]) == Array(repeating: isValid, count: 6))
        }

        @Test("a broken Huffman table that a valid one replaces does no harm")
        func replacedTable() throws {
            var parts = try parts("detailed-444-progressive.jpg")
            let scan = try #require(parts.lastIndex { $0.isScan })
            let table = try #require(parts.lastIndex { $0.isTable })
            #expect(table < scan)
            parts.insert(.codes([3]), at: table)
            #expect(verdicts(parts, [0, 160, 100, 60, 40, 17]).allSatisfy { $0 })
        }

        @Test("a file of one scan is decoded at every size, whatever scan that is", arguments: 0..<6)
        func onlyScan(_ number: Int) throws {
            let all = try parts(Self.grey)
            let scans = all.indices.filter { all[$0].isScan }
            #expect(scans.count == 6)
            let some = all.indices.filter { !all[$0].isScan || $0 == scans[number] }.filter {
                !all[$0].isTable || $0 < scans[number]
            }
            #expect(verdicts(some.map { all[$0] }, Self.greySides).allSatisfy { $0 })
        }

        /// The sample with its third scan first. Small sizes need nothing of this scan.
        private func thirdScanFirst() throws -> (parts: [Part], scan: Int) {
            var all = try parts(Self.grey)
            let scans = all.indices.filter { all[$0].isScan }
            let moved = all[scans[1] + 1...scans[2]]
            let tables = all.indices.filter { all[$0].isTable && $0 < scans[0] }
            #expect(moved.map(\.marker) == [0xC4, 0xDA] && !tables.isEmpty)
            all.removeSubrange(scans[1] + 1...scans[2])
            all.insert(contentsOf: moved, at: scans[0])
            return (all, scans[0] + 1)
        }

        @Test("the quantization table of a component is there when its first scan begins, or the file is an error")
        func lateQuantization() throws {
            var (parts, scan) = try thirdScanFirst()
            #expect(verdicts(parts, Self.greySides).allSatisfy { $0 })
            let table = try #require(parts.firstIndex { $0.isQuantization })
            parts.insert(parts[table], at: scan + 1)
            parts.remove(at: table)
            #expect(verdicts(parts, Self.greySides).allSatisfy { !$0 })
        }

        @Test("a component keeps the quantization table of its first scan", arguments: greySides)
        func changedQuantization(_ side: Int) throws {
            var (parts, scan) = try thirdScanFirst()
            let expected = try BitmapImage.decode(data(parts), sizing: .maxPixelSize(side))
            parts.insert(.fine, at: scan + 1)
            #expect(try BitmapImage.decode(data(parts), sizing: .maxPixelSize(side)) == expected)
        }

        @Test(
            "a marker that is not defined is an error at every size, or at none",
            arguments: [
                [0xFF, 0x7F, 0xFF, 0xFF], [0xFF, 0x7F, 0, 8], [0xFF, 0x02, 0x55, 0x55], [0xFF, 0xF3, 0xFF, 0xFF],
            ])
        func undefinedMarkers(_ marker: [UInt8]) throws {
            let plain = [UInt8](try Samples.data("restarts-progressive.jpg"))
            var accepted = 0
            for offset in stride(from: plain.count / 4, to: plain.count - 8, by: 13) {
                var bytes = plain
                bytes.replaceSubrange(offset..<offset + marker.count, with: marker)
                let verdicts = [0, 20, 5, 3].map {
                    (try? BitmapImage.decode(Data(bytes), sizing: .maxPixelSize($0))) != nil
                }
                #expect(Set(verdicts).count == 1, "at \(offset)")
                accepted += verdicts[0] ? 1 : 0
            }
            #expect(accepted > 0 || marker[1] > 0xC0)
        }

        @Test(
            "a file may lack its end marker, and nothing else",
            arguments: [
                "detailed-444-progressive.jpg", "detailed-411-progressive.jpg", "restarts-progressive.jpg",
                "jpeg-scattered.jpg", "jpeg-grey-progressive.jpg", "jpeg-cmyk-progressive.jpg", "detailed-420.jpg",
            ])
        func noEnd(_ file: String) throws {
            let data = try Samples.data(file)
            let scan = try #require(data.range(of: Data([0xFF, 0xDA]), options: .backwards)).lowerBound
            for side in [0, 60, 17, 5] {
                let sizing = ImageSizing.maxPixelSize(side)
                let (image, whole) = try (
                    BitmapImage.decode(data.dropLast(2), sizing: sizing), BitmapImage.decode(data, sizing: sizing)
                )
                // Small sizes are decoded in another way if the file is whole.
                #expect(Pixels.decibels(image, whole) >= (side == 0 ? .infinity : 40))
                #expect(throws: ImageError.self) { try BitmapImage.decode(data.dropLast(10), sizing: sizing) }
                #expect(throws: ImageError.self) { try BitmapImage.decode(data.prefix(scan), sizing: sizing) }
            }
        }

        @Test(
            "a file without end marker whose data are arithmetically coded is an error, because nothing shows that it is whole"
        )
        func noEndOfArithmeticCode() throws {
            let data = try Samples.data("detailed-arithmetic-progressive.jpg").dropLast(2)
            for side in [0, 60, 17] {
                #expect(throws: ImageError.self) { try BitmapImage.decode(data, sizing: .maxPixelSize(side)) }
            }
        }
    }
#endif
