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
        /// Every file of the samples that this build decodes: all formats, orientations, profiles and kinds of alpha.
        private static let files: [String] = {
            let folder = Bundle.module.url(forResource: "Samples", withExtension: nil)?.path ?? ""
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.filter { name in
                !name.hasPrefix("bomb-") && ImageFormat.named(byExtension: name).map(decodes) == true
            }.sorted()
        }()

        private static func decodes(_ format: ImageFormat) -> Bool {
            [.jpeg, .png, .webp, .gif].contains(format) || TraitTests.enabled.contains(format)
        }

        /// As they are stored, reduced, and for a view.
        private static let sizings: [ImageSizing] = [
            .stored, .maxPixelSize(16), .maxPixelSize(7, filter: .lanczos),
            .space(CGSize(width: 5, height: 9), contentMode: .aspectFill, scale: 2),
        ]

        /// None, and each processing alone and after others.
        private static let chains: [[ImageProcessing]] = {
            let alone: [ImageProcessing] = [
                .cropToFill(CGSize(width: 9, height: 6)), .roundedCorners(3), .circle, .border(.white, width: 1.5),
                .blur(radius: 1), .tint(ImageColor(red: 0.2, green: 0.9, blue: 0.1, alpha: 0.4)), .greyscale,
                ImageProcessing(identifier: "tests.same") { $0 },
            ]
            return [[]] + alone.map { [$0] } + [alone, alone.reversed()]
        }()

        @Test("equal the decoded ones, pixel for pixel, whatever file, size and processing", arguments: files)
        func equal(file: String) throws {
            let data = try Samples.data(file)
            for (index, sizing) in Self.sizings.enumerated() {
                // A third of the processings, which differs between files, at one size; in a soak, all at each size.
                let isLast = index == Self.sizings.count - 1
                for (number, chain) in Self.chains.enumerated()
                where chain.isEmpty || Soak.isOn || isLast && number % 3 == file.utf8.count % 3 {
                    let resource = ImageResource(
                        request: URLRequest(url: URL(fileURLWithPath: "/")), sizing: sizing, processing: chain)
                    let decoded = try resource.parse(data)
                    let stored = try resource.decode(try #require(try resource.encode(decoded)))
                    #expect(stored == decoded && stored.isOpaque == decoded.isOpaque && stored.scale == decoded.scale)
                }
            }
        }

        @Test("the samples have all formats, with alpha and without")
        func samplesAreThere() throws {
            #expect(Self.files.count > 150 && Set(Sample.files.map(\.file)).isSubset(of: Self.files))
            var kinds: Set<[String]> = []
            for file in Self.files {
                let image = try ImageDecoding.image(from: Samples.data(file))
                kinds.insert(["\(ImageFormat.named(byExtension: file) ?? .svg)", "\(image.isOpaque)"])
            }
            #expect(kinds.count >= 7)
        }

        @Test("equal the decoded photographs", arguments: [160, 400, 0])
        func photographs(side: Int) throws {
            for photograph in try SamplePhotograph.all() {
                let resource = ImageResource(url: URL(fileURLWithPath: "/"), maxPixelSize: side)
                let decoded = try resource.parse(photograph.data)
                #expect(try resource.decode(try #require(try resource.encode(decoded))) == decoded)
            }
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

        @Test("animations, and images above the bound, are not stored")
        func notStored() async throws {
            let bench = try Workbench()
            let photograph = try #require(SamplePhotograph.all().first { $0.file.hasPrefix("retina") }).data
            bench.server["/photograph"] = Reply(photograph, status: 200, fields: ["Cache-Control": "max-age=60"])
            bench.server["/animation"] = Reply(
                try Samples.data("gif-disposal-1.gif"), status: 200, fields: ["Cache-Control": "max-age=60"])
            let url = bench.server.url("/photograph")
            for launch in 0..<2 {
                let cache = bench.cache()
                let synchronizer = bench.synchronizer(cache: cache) {
                    $0.derivedObjects?.minimumParseTime = 0
                    $0.derivedObjects?.maximumShare = .infinity
                }
                let animation = AnimatedImageResource(url: bench.server.url("/animation"))
                #expect(try await !synchronizer.loaded(animation).trace.isDerived)
                #expect(try await !synchronizer.loaded(ImageResource(url: url)).trace.isDerived)  // takes 6 MB
                let small = try await synchronizer.loaded(ImageResource(url: url, maxPixelSize: 40))
                #expect(small.trace.isDerived == (launch == 1))
                try await waitUntil("the small image is stored") { cache.statistics.entries == 3 }
            }
        }
    }
#endif
