#if !canImport(ImageIO)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Images stored as pixels", .bounded)
    struct StoredImageTests {
        @Test("equal the decoded ones, pixel for pixel", arguments: Sample.all)
        func equal(sample: Sample) throws {
            let resource = ImageResource(
                request: URLRequest(url: URL(fileURLWithPath: "/")), sizing: sample.sizing)
            guard let decoded = try? resource.parse(sample.data()) else { return }
            let data = try #require(try resource.encode(decoded))
            let stored = try resource.decode(data)
            #expect(stored == decoded)
            #expect(stored.isOpaque == decoded.isOpaque && stored.scale == decoded.scale)
        }

        @Test("keep alpha, scale and odd sizes", arguments: [false, true], 1...9)
        func sizes(isOpaque: Bool, width: Int) throws {
            var generator = SeededGenerator(seed: UInt64(width))
            let image = try #require(
                BitmapImage(width: width, height: 3, scale: 1.5, isOpaque: isOpaque) { bytes in
                    for index in bytes.indices {
                        bytes[index] = isOpaque && index % 4 == 3 ? 255 : .random(in: 0...255, using: &generator)
                    }
                })
            let stored = try #require(BitmapImage(storedForm: image.storedForm))
            #expect(stored == image && stored.scale == 1.5 && stored.isOpaque == isOpaque)
            #expect(image.storedForm.count == 20 + width * 3 * (isOpaque ? 3 : 4))
        }

        @Test("other bytes are no image")
        func invalid() throws {
            let image = try #require(BitmapImage(width: 5, height: 4) { _ in })
            let data = image.storedForm
            for length in [0, 1, 11, 19, 20, data.count - 1] {
                #expect(BitmapImage(storedForm: data.prefix(length)) == nil)
            }
            #expect(BitmapImage(storedForm: data + [0]) == nil)
            var generator = SeededGenerator(seed: 1)
            for _ in 0..<20_000 {
                var mutated = data
                for _ in 0..<3 {
                    mutated[.random(in: 0..<20, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                if let other = BitmapImage(storedForm: mutated) {
                    #expect(other.width * other.height * 3 <= data.count)
                }
            }
        }

        @Test("a thumbnail is decoded once, whatever launch asks for it")
        func launches() async throws {
            let bench = try Workbench()
            let photograph = try #require(SamplePhotograph.all().first).data
            bench.server["/a"] = Reply(photograph, status: 200, fields: ["Cache-Control": "max-age=60"])
            let resource = ImageResource(
                url: bench.server.url("/a"), maxPixelSize: 120, processing: [.cropToFill, .circle])
            var images: [BitmapImage] = []
            for launch in 0..<2 {
                let cache = bench.cache()
                let synchronizer = bench.synchronizer(cache: cache) { $0.derivedObjects?.minimumParseTime = 0 }
                let loaded = try await synchronizer.loaded(resource)
                images.append(loaded.object)
                #expect(loaded.trace.isDerived == (launch == 1))
                try await waitUntil("the object is stored") { cache.statistics.entries == 2 }
            }
            #expect(images[0] == images[1])
        }
    }
#endif
