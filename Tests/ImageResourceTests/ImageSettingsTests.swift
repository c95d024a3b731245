#if !canImport(ImageIO)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageResource

    @Suite("The settings of an image", .bounded)
    struct ImageSettingsTests {
        let bench: Workbench
        let size: Int

        init() throws {
            bench = try Workbench()
            let data = try Samples.data("gif-disposal-1.gif")
            size = data.count
            // Without a lifetime of its own.
            bench.server["/a.gif"] = Reply(data, fields: ["ETag": "\"1\""]).conditional()
        }

        private var url: URL { bench.server.url("/a.gif") }

        @Test(
            "cacheTime is the lifetime of a response without one, also where only the disk has it",
            arguments: [false, true])
        func cacheTime(isAnimated: Bool) async throws {
            if isAnimated {
                var image = AnimatedImageResource(url: url, maxPixelSize: 20)
                image.cacheTime = 100
                try await checkLifetime(of: image, without: AnimatedImageResource(url: url, maxPixelSize: 20))
            } else {
                var image = ImageResource(url: url, maxPixelSize: 20)
                image.cacheTime = 100
                try await checkLifetime(of: image, without: ImageResource(url: url, maxPixelSize: 20))
            }
        }

        private func checkLifetime<R: Resource>(of resource: R, without other: R) async throws {
            let synchronizer = bench.synchronizer(cacheTime: 10)
            #expect(try await synchronizer.loaded(resource).source == .network)
            bench.clock.advance(by: 90)
            #expect(try await synchronizer.loaded(resource).source == .memory)
            synchronizer.removeAllObjects()
            #expect(try await synchronizer.loaded(resource).source == .cache)
            bench.clock.advance(by: 20)
            #expect(try await synchronizer.loaded(resource).source == .revalidated)
            // The same response has the lifetime that the load gave it that stored it last.
            synchronizer.removeAll()
            #expect(try await synchronizer.loaded(other).source == .network)
            bench.clock.advance(by: 90)
            #expect(try await synchronizer.loaded(resource).source == .revalidated)
            synchronizer.removeAll()
        }

        @Test("cacheTime holds for a prefetch to the disk")
        func prefetched() async throws {
            var image = ImageResource(url: url, maxPixelSize: 20)
            image.cacheTime = 100
            let synchronizer = bench.synchronizer()
            #expect(await synchronizer.prefetch([image], to: .disk).result.loaded == 1)
            bench.clock.advance(by: 90)
            #expect(try await synchronizer.loaded(image).source == .cache)
        }

        @Test("maximumSize is a limit of the file, in place of that of the configuration", arguments: [false, true])
        func maximumSize(isAnimated: Bool) async throws {
            let strict = bench.synchronizer { $0.maximumResponseSize = 10 }
            func load(limit: Int?, with synchronizer: Synchronizer) async throws {
                if isAnimated {
                    var image = AnimatedImageResource(url: url)
                    image.maximumSize = limit
                    _ = try await synchronizer.load(image)
                } else {
                    var image = ImageResource(url: url)
                    image.maximumSize = limit
                    _ = try await synchronizer.load(image)
                }
            }
            let refused: [(Int?, Int)] = [(nil, 10), (size - 1, size - 1)]
            for (limit, expected) in refused {
                await #expect {
                    try await load(limit: limit, with: strict)
                } throws: { error in
                    if case SynchronizerError.tooLarge(expected, _) = error { true } else { false }
                }
            }
            try await load(limit: size, with: strict)
            try await load(limit: nil, with: bench.synchronizer())
        }
    }
#endif
