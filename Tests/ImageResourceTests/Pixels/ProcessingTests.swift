#if !canImport(ImageIO)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Image processing", .bounded)
    struct ProcessingTests {
        private let bench: Workbench
        private let synchronizer: Synchronizer

        init() throws {
            bench = try Workbench()
            synchronizer = bench.synchronizer(cacheTime: 3600)
            bench.server["/image"] = Reply(try Samples.data("png-rgb-8.png"), status: 200, fields: [:])
        }

        private func resource(_ processing: [ImageProcessing]) -> ImageResource {
            ImageResource(url: bench.server.url("/image"), processing: processing)
        }

        private func image() throws -> BitmapImage { try BitmapImage.decode(Samples.data("png-rgb-8.png")) }

        /// Counts its runs.
        private static func counting(_ identifier: String, _ runs: Locked<Int>) -> ImageProcessing {
            ImageProcessing(identifier: identifier) { image in
                runs.withLock { $0 += 1 }
                return image
            }
        }

        @Test("a load gives the processed image, in the order of the array")
        func order() async throws {
            let corners = ImageProcessing.roundedCorners(8)
            let border = ImageProcessing.border(.white, width: 3)
            for steps in [[corners, border], [border, corners], [.blur(radius: 2), .grayscale, .circle], []] {
                let expected = try steps.reduce(try image()) { try ImageProcessing.apply([$1], to: $0) }
                let whole = try ImageProcessing.apply(steps, to: image())
                #expect(try await synchronizer.load(resource(steps)) == whole)
                // A border that comes alone does not know of the corners.
                if steps != [corners, border] { #expect(whole == expected) } else { #expect(whole != expected) }
            }
            #expect(bench.server.requests.count == 1)
        }

        @Test("equal processing is coalesced and kept in memory; other processing shares the download only")
        func shared() async throws {
            let runs = Locked(0)
            let gate = Gate()
            bench.server["/image"] = Reply(try Samples.data("png-rgb-8.png"), status: 200).waiting(
                for: gate, .beforeHead)
            let (one, other) = (resource([Self.counting("one", runs)]), resource([Self.counting("other", runs)]))
            async let first = synchronizer.load(one)
            async let second = synchronizer.load(one)
            async let third = synchronizer.load(other)
            async let plain = synchronizer.load(resource([]))
            try await gate.waitForArrivals(1)
            gate.open()
            _ = try await (first, second, third, plain)
            let before = runs.withLock { $0 }
            // The second load may have come after the first was complete, and hit memory.
            #expect(before == 2)
            _ = try await (synchronizer.load(one), synchronizer.load(other))
            #expect(runs.withLock { $0 } == before)
            #expect(synchronizer.cachedObject(for: one) != nil)
            #expect(synchronizer.cachedObject(for: resource([Self.counting("none", runs)])) == nil)
            #expect(bench.server.requests.count == 1)
        }

        @Test("no two different lists have the same name, whatever identifiers contain")
        func names() {
            let all: [[ImageProcessing]] = [
                [], [.circle], [.circle, .circle], [ImageProcessing(identifier: "circle") { $0 }],
                [ImageProcessing(identifier: "circle | circle") { $0 }],
                [ImageProcessing(identifier: "a") { $0 }, ImageProcessing(identifier: "b") { $0 }],
                [ImageProcessing(identifier: "a ‖ 1 b") { $0 }], [ImageProcessing(identifier: "a1 b") { $0 }],
                [.blur(radius: 1)], [.blur(radius: 10)], [.roundedCorners(1)], [.greyscale],
                [.tint(.black)], [.tint(.white)], [.border(.black, width: 1)], [.border(.black, width: 2)],
                [.cropToFill], [.cropToFill(focus: .zero)], [.cropToFill(CGSize(width: 1, height: 11))],
                [.cropToFill(CGSize(width: 11, height: 1))],
            ]
            #expect(Set(all.map { resource($0).variant }).count == all.count)
            #expect(Set(all).count == all.count)
            #expect(resource([]).variant == ResourceVariant(ImageSizing.stored.name))
            #expect(resource([.blur(radius: 1)]).variant == resource([.blur(radius: 1.0)]).variant)
        }

        private struct Refused: Error {}

        @Test("a load fails with the error of your own processing")
        func failure() async throws {
            let refusing = ImageProcessing(identifier: "refusing") { _ in throw Refused() }
            let error = await #expect(throws: SynchronizerError.self) {
                try await synchronizer.load(resource([.circle, refusing]))
            }
            guard case .undecodable(let reason, _)? = error else { return #expect(error == nil, "not undecodable") }
            #expect(reason is Refused)
        }

        @Test("processing does not change the image that it is given, nor one that your own processing has kept")
        func unchanged() throws {
            let (image, same) = (try image(), try image())
            let kept = Locked<BitmapImage?>(nil)
            let keeping = ImageProcessing(identifier: "keeping") { image in
                kept.withLock { $0 = image }
                return image
            }
            let steps: [ImageProcessing] = [.greyscale, keeping, .tint(.black), .roundedCorners(5), .blur(radius: 3)]
            _ = try ImageProcessing.apply(steps, to: image)
            #expect(image == same)
            #expect(try kept.withLock { $0 } == ImageProcessing.apply([.greyscale], to: same))
        }

        @Test("pixels that no other image shares are changed in place")
        func inPlace() throws {
            let image = try image()
            var canvas = try BitmapCanvas(BitmapImageTests.sample(4, 4))
            var places: Set<UnsafeMutableRawPointer> = []
            for _ in 0..<3 { try canvas.edit { places.insert($0.base) } }
            #expect(places.count == 1)
            canvas = try BitmapCanvas(image)
            try canvas.edit { pixels in
                image.withUnsafeBytes { #expect($0.baseAddress != UnsafeRawPointer(pixels.base)) }
            }
        }

        @Test("a cancelled load is not processed any further")
        func cancelled() throws {
            let (runs, isCancelled) = (Locked(0), Locked(false))
            let cancelling = ImageProcessing(identifier: "cancelling") { image in
                isCancelled.withLock { $0 = true }
                return image
            }
            let resource = resource([cancelling, Self.counting("next", runs)])
            let data = try Samples.data("png-rgb-8.png")
            #expect(throws: CancellationError.self) {
                try ParseCancellation.with({ isCancelled.withLock { $0 } }) { try resource.parse(data) }
            }
            #expect(runs.withLock { $0 } == 0)
        }

        @Test("previews are processed, too")
        func previews() throws {
            let data = try Samples.data("large-progressive.jpg")
            let resource = ImageResource(
                url: bench.server.url("/image"), targetSize: CGSize(width: 60, height: 60), scale: 1,
                processing: [.cropToFill, .circle])
            let preview = try #require(resource.makePreviewer().preview(of: data))
            #expect(preview.width == 60 && preview.height == 60 && !preview.isOpaque)
        }

        @Test("processing waits for the memory budget")
        func budget() throws {
            #expect(DecodeBudget.shared.used >= 0)
            let used = Locked(0)
            let watching = ImageProcessing(builtIn: "watching") { _ in used.withLock { $0 = DecodeBudget.shared.used } }
            let image = try image()
            _ = try ImageProcessing.apply([watching], to: image)
            #expect(used.withLock { $0 } >= image.decodedByteCount)
        }
    }
#endif
