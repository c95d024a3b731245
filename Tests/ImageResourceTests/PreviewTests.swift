#if !canImport(ImageIO)
    import Foundation
    import Synchronizer
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Previews", .bounded)
    struct PreviewTests {
        /// All previews of a file that arrives in pieces, each in memory of its own.
        private func previews(_ data: Data, pieces: Int, sizing: ImageSizing = .stored) -> [BitmapImage] {
            let previewer = ImagePreviewer(sizing: sizing)
            return (1...pieces).compactMap {
                previewer.preview(of: Data([UInt8](data.prefix(data.count * $0 / pieces))))
            }
        }

        @Test(
            "a progressive JPEG comes nearer with its scans, to the picture itself",
            arguments: [ImageSizing.stored, .maxPixelSize(120), .maxPixelSize(30)])
        func progressive(_ sizing: ImageSizing) throws {
            let data = try Samples.data("reduced-progressive.jpg")
            let final = try BitmapImage.decode(data, sizing: sizing)
            let previews = previews(data, pieces: 60, sizing: sizing)
            #expect(previews.count >= 5)
            let decibels = previews.map { Pixels.decibels($0, final) }
            #expect(decibels.first ?? 0 > 20)
            #expect(decibels == decibels.sorted())
            #expect(previews.last == final)
        }

        @Test(
            "a part of a scan does not change the preview",
            arguments: ["detailed-444-progressive.jpg", "jpeg-cmyk-progressive.jpg"])
        func partOfScan(_ file: String) throws {
            let data = try Samples.data(file)
            let scans = data.indices.filter { data[$0...].starts(with: [0xFF, 0xDA]) }
            #expect(scans.count >= 6)
            for (scan, next) in zip(scans.dropFirst(), scans.dropFirst(2)) {
                let begin = data.prefix(scan + 2 + Int(data[scan + 2]) << 8 + Int(data[scan + 3]))
                let preview = try #require(ImagePreviewer(sizing: .stored).preview(of: begin))
                let middle = data.prefix((begin.count + next) / 2)
                #expect(ImagePreviewer(sizing: .stored).preview(of: middle) == preview)
            }
        }

        @Test("bytes that arrive together are shown once")
        func oneStep() throws {
            #expect(previews(try Samples.data("reduced-progressive.jpg"), pieces: 1).count == 1)
        }

        @Test(
            "other images come from the top, transparent where nothing has come yet",
            arguments: [
                "reduced-420.jpg", "jpeg-cmyk.jpg", "jpeg-restarts.jpg", "reduced-lossy.webp",
                "reduced-lossy-alpha.webp",
                "reduced-lossless.webp",
            ], [ImageSizing.stored, .maxPixelSize(40)])
        func rows(_ file: String, _ sizing: ImageSizing) throws {
            let data = try Samples.data(file)
            let final = try BitmapImage.decode(data, sizing: sizing)
            let previews = previews(data, pieces: 80, sizing: sizing)
            #expect(previews.count >= 2)
            #expect(previews.allSatisfy { $0.width == final.width && $0.height == final.height })
            let last = try #require(previews.last)
            #expect(last.topRows(equalTo: final) > final.height / 2)
            let firstRows = previews[0].topRows(equalTo: final)
            #expect(previews[0].isClear(fromRow: min(firstRows + 40, final.height)))
        }

        @Test("a turned JPEG is upright from the first preview on")
        func turned() throws {
            let data = try Samples.data("reduced-turned.jpg")
            let preview = try #require(previews(data, pieces: 10).last)
            #expect(preview.width == 251 && preview.height == 333)
        }

        @Test(
            "what cannot be shown in part has no preview",
            arguments: ["png-rgb-8.png", "gif-disposal-0.gif", "webp-turned.webp", "webp-animated-lossy.webp"])
        func none(_ file: String) throws {
            #expect(previews(try Samples.data(file), pieces: 10).isEmpty)
        }

        @Test("hostile bytes have no preview and do no harm")
        func hostile() throws {
            var data = try Samples.data("reduced-progressive.jpg")
            for index in stride(from: 700, to: data.count, by: 97) { data[index] ^= 0x55 }
            _ = previews(data, pieces: 20)
            #expect(previews(Data(repeating: 0xFF, count: 5000), pieces: 20).isEmpty)
        }

        @Test("a previewer whose load is cancelled gives nothing, then and afterwards")
        func cancelled() throws {
            let data = try Samples.data("reduced-progressive.jpg")
            let previewer = ImagePreviewer(sizing: .stored)
            #expect(ParseCancellation.with({ true }) { previewer.preview(of: data) } == nil)
            #expect(previewer.preview(of: data) == nil)
        }

        @Test("without room in the budget there are no previews, and the room comes back when a previewer goes")
        func budget() throws {
            let data = try Samples.data("reduced-420.jpg")
            let budget = DecodeBudget { 1_500_000 }
            var first: ImagePreviewer? = ImagePreviewer(sizing: .stored, budget: budget)
            #expect(first?.preview(of: data) != nil)
            #expect(budget.used > 600_000)
            #expect(ImagePreviewer(sizing: .stored, budget: DecodeBudget { 1000 }).preview(of: data) == nil)
            first = nil
            #expect(budget.used == 0)
        }
    }

    extension BitmapImage {
        /// The number of rows, from the top, that are the same in another image.
        fileprivate func topRows(equalTo other: BitmapImage) -> Int {
            withUnsafeBytes { one in
                other.withUnsafeBytes { other in
                    (0..<height).first { row in
                        let range = row * bytesPerRow..<(row + 1) * bytesPerRow
                        return !one[range].elementsEqual(other[range])
                    } ?? height
                }
            }
        }

        fileprivate func isClear(fromRow row: Int) -> Bool {
            withUnsafeBytes { $0[(row * bytesPerRow)...].allSatisfy { $0 == 0 } }
        }
    }
#endif
