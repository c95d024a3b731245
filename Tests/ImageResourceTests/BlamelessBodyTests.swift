#if !canImport(ImageIO)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("The stored response of an image that a load could not show", .bounded)
    struct BlamelessBodyTests {
        private struct OutOfInk: Error {}

        let bench: Workbench
        let url: URL

        init() throws {
            bench = try Workbench()
            url = bench.server.url("/a")
            bench.server["/a"] = Reply(
                try Samples.data("gif-disposal-1.gif"), status: 200, fields: ["Cache-Control": "max-age=60"])
        }

        private func error(of resource: some Resource, with synchronizer: Synchronizer) async -> (any Error)? {
            do {
                _ = try await synchronizer.load(resource)
                return nil
            } catch {
                guard case .undecodable(let cause, _)? = error as? SynchronizerError else { return error }
                return cause
            }
        }

        @Test("stays, with the objects next to it, if processing of the app threw")
        func processing() async throws {
            let cache = bench.cache()
            let synchronizer = bench.synchronizer(cache: cache) {
                $0.derivedObjects?.minimumParseTime = 0
                $0.derivedObjects?.maximumShare = .infinity
            }
            let plain = ImageResource(url: url)
            _ = try await synchronizer.load(plain)
            try await waitUntil("the object is stored") { cache.statistics.entries == 2 }
            synchronizer.removeAllObjects()
            let failing = ImageResource(
                url: url, processing: [ImageProcessing(identifier: "tests.out-of-ink") { _ in throw OutOfInk() }])
            #expect(await error(of: failing, with: synchronizer) is OutOfInk)
            #expect(cache.statistics.entries == 2)
            let again = try await synchronizer.loaded(plain)
            #expect(again.source == .cache && again.trace.isDerived)
            #expect(bench.server.counts.requests == 1)
        }

        @Test("is removed if the bytes are corrupt")
        func corrupt() async throws {
            bench.server["/a"] = Reply("<html>", fields: ["Cache-Control": "max-age=60"])
            let synchronizer = bench.synchronizer()
            for _ in 0..<2 {
                #expect(await error(of: ImageResource(url: url), with: synchronizer) as? ImageError == .unknownFormat)
                #expect(await error(of: AnimatedImageResource(url: url), with: synchronizer) != nil)
            }
            #expect(bench.server.counts.requests == 4)
        }

        @Test(
            "stays after an error that does not blame the bytes",
            arguments: [
                (ImageError.unknownFormat, true), (.corrupt(.png, "the data ends too early"), true),
                (.unsupportedFormat(.avif), false), (.tooManyPixels(width: 9, height: 9, limit: 80), false),
                (.overBudget(bytes: 9, limit: 8), false), (.outOfMemory, false), (.noSuchFrame(1), false),
            ])
        func blame(error: ImageError, isBlamed: Bool) {
            #expect(ImageResource(url: url).blamesBody(for: error) == isBlamed)
            #expect(AnimatedImageResource(url: url).blamesBody(for: error) == isBlamed)
        }
    }
#endif
