#if !canImport(ImageIO)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// A view as far as loading is concerned.
    @MainActor
    private final class Picture: ImageDisplay {
        let shown = Collector<PlatformImage?>()
        let imageLoads = ImageLoads()
        var imageSizing = ImageSizing.stored
        var displayedImage: PlatformImage? {
            didSet { shown.append(displayedImage) }
        }
        private(set) var fades: [TimeInterval] = []

        func fade(to image: PlatformImage, duration: TimeInterval) {
            fades.append(duration)
            displayedImage = image
        }
    }

    @Suite("Views that load images", .bounded)
    @MainActor
    struct ImageDisplayTests {
        private let bench: Workbench
        private let synchronizer: Synchronizer
        private let grey: BitmapImage
        private let broken: BitmapImage

        init() throws {
            bench = try Workbench()
            synchronizer = bench.synchronizer(cacheTime: 3600)
            for (index, name) in ["png-rgb-8.png", "jpeg-420.jpg", "reduced-420.jpg"].enumerated() {
                bench.server["/\(index)"] = Reply(try Samples.data(name), status: 200, fields: [:])
            }
            bench.server["/none"] = Reply("no such image", status: 404)
            bench.server["/text"] = Reply("this is no image", status: 200)
            grey = try BitmapImageTests.sample(4, 4)
            broken = try BitmapImageTests.sample(5, 5)
        }

        private func url(_ path: String) -> URL { bench.server.url(path) }

        private func image(_ name: String, _ sizing: ImageSizing = .stored) throws -> BitmapImage {
            try BitmapImage.decode(Samples.data(name), sizing: sizing)
        }

        @Test("the placeholder is shown until the image is there")
        func placeholder() async throws {
            let view = Picture()
            view.loadImage(url("/0"), placeholder: grey, synchronizer: synchronizer)
            #expect(view.displayedImage === grey)
            #expect(try await view.shown.wait(for: 2) == [grey, try image("png-rgb-8.png")])
        }

        @Test("an image in memory is shown at once, without the placeholder")
        func memory() async throws {
            let (first, second) = (Picture(), Picture())
            first.loadImage(url("/0"), synchronizer: synchronizer)
            try await first.shown.wait(for: 2)
            second.loadImage(url("/0"), placeholder: grey, synchronizer: synchronizer)
            #expect(second.shown.elements == [try image("png-rgb-8.png")])
            #expect(second.displayedImage === first.displayedImage)
        }

        @Test("an image fades in, unless it was in memory", arguments: [false, true])
        func fades(_ showsPreviews: Bool) async throws {
            let (first, second) = (Picture(), Picture())
            for view in [first, second] {
                view.loadImage(
                    url("/0"), placeholder: grey, transition: .fade(0.25), showsPreviews: showsPreviews,
                    synchronizer: synchronizer)
                try await waitUntil("the image is shown") { view.displayedImage != nil && view.displayedImage != grey }
            }
            #expect(first.fades == [0.25] && second.fades == [])
            for transition in [ImageTransition.none, .fade(0), .fade(-1), .fade(.nan)] {
                let view = Picture()
                view.loadImage(url("/1"), transition: transition, synchronizer: synchronizer)
                try await waitUntil("the image is shown") { view.displayedImage != nil }
                #expect(view.fades == [])
            }
        }

        @Test("a view shows the processed image, for its own size")
        func processed() async throws {
            let view = Picture()
            view.imageSizing = .space(CGSize(width: 10, height: 10), contentMode: .aspectFit, scale: 1)
            view.loadImage(url("/0"), processing: [.cropToFill, .circle], synchronizer: synchronizer)
            try await waitUntil("the image is shown") { view.displayedImage != nil }
            #expect(
                view.displayedImage?.width == 10 && view.displayedImage?.height == 10
                    && view.displayedImage?.isOpaque == false)
        }

        @Test("a reused cell never shows the image that it loaded before")
        func reused() async throws {
            let gate = Gate()
            bench.server["/slow"] = Reply(try Samples.data("jpeg-444.jpg"), status: 200).waiting(for: gate, .beforeHead)
            let view = Picture()
            view.loadImage(url("/slow"), placeholder: grey, synchronizer: synchronizer)
            try await gate.waitForArrivals(1)
            view.loadImage(url("/1"), placeholder: nil, synchronizer: synchronizer)
            #expect(view.displayedImage == nil)
            try await view.shown.wait(for: 3)
            gate.open()
            // If the first load still delivered anything, it would do so before a load that begins now.
            let later = Picture()
            later.loadImage(url("/2"), synchronizer: synchronizer)
            try await later.shown.wait(for: 2)
            #expect(view.shown.elements.prefix(3) == [grey, nil, try image("jpeg-420.jpg")])
            #expect(!view.shown.elements.contains(try image("jpeg-444.jpg")))
        }

        @Test("an image that can't be loaded or decoded shows the failure image", arguments: ["/none", "/text"])
        func failure(_ path: String) async throws {
            let view = Picture()
            view.loadImage(url(path), placeholder: grey, failureImage: broken, synchronizer: synchronizer)
            #expect(try await view.shown.wait(for: 2) == [grey, broken])
        }

        @Test("without a failure image the placeholder stays")
        func failureWithoutImage() async throws {
            let view = Picture()
            view.loadImage(url("/none"), placeholder: grey, synchronizer: synchronizer)
            #expect(try await view.shown.wait(for: 2) == [grey, grey])
        }

        @Test("no URL shows the placeholder; a string that is none shows the error image")
        func noURL() async throws {
            let view = Picture()
            view.loadImage(nil, placeholder: grey, synchronizer: synchronizer)
            view.loadImage(urlString: "", placeholderImage: grey, errorImage: broken)
            view.loadImage(urlString: nil, placeholderImage: grey, errorImage: nil)
            #expect(view.shown.elements == [grey, broken, grey])
            #expect(bench.server.requests.isEmpty)
        }

        @Test("after cancelLoad nothing changes any more, and the load ends")
        func cancelled() async throws {
            let gate = Gate()
            bench.server["/slow"] = Reply(try Samples.data("jpeg-444.jpg"), status: 200).waiting(for: gate, .beforeHead)
            let view = Picture()
            view.loadImage(url("/slow"), placeholder: grey, synchronizer: synchronizer)
            try await gate.waitForArrivals(1)
            view.cancelLoad()
            try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
            #expect(view.shown.elements == [grey])
        }

        @Test("a view that goes away takes its load with it")
        func gone() async throws {
            let gate = Gate()
            bench.server["/slow"] = Reply(try Samples.data("jpeg-444.jpg"), status: 200).waiting(for: gate, .beforeHead)
            weak var weakView: Picture?
            var view: Picture? = Picture()
            weakView = view
            view?.loadImage(url("/slow"), synchronizer: synchronizer)
            try await gate.waitForArrivals(1)
            view = nil
            #expect(weakView == nil)
            try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
        }

        @Test("the image is decoded for the size of the view, unless another is given")
        func sizes() async throws {
            let view = Picture()
            view.imageSizing = .space(CGSize(width: 50, height: 50), contentMode: .aspectFit, scale: 2)
            view.loadImage(url("/2"), synchronizer: synchronizer)
            #expect(try await view.shown.wait(for: 2).last.flatMap { $0?.width } == 100)
            #expect(view.displayedImage?.scale == 2)
            view.loadImage(url("/2"), sizing: .maxPixelSize(30), synchronizer: synchronizer)
            #expect(try await view.shown.wait(for: 4).last.flatMap { $0?.width } == 30)
            #expect(bench.server.requests.count == 1)
        }

        @Test("the same image stays visible while it is revalidated")
        func again() async throws {
            let view = Picture()
            view.loadImage(url("/0"), placeholder: grey, synchronizer: synchronizer)
            try await view.shown.wait(for: 2)
            bench.clock.advance(by: 4000)
            view.loadImage(url("/0"), placeholder: grey, synchronizer: synchronizer)
            #expect(try await view.shown.wait(for: 3).last == (try image("png-rgb-8.png")))
            #expect(bench.server.requests.count == 2)
        }

        @Test("previews come between the placeholder and the image, and before the failure image")
        func previews() async throws {
            let progressive = try Samples.data("reduced-progressive.jpg")
            let gates = (Gate(), Gate())
            bench.server["/slow"] = Reply(progressive).waiting(for: gates.0, .afterBody(10_000))
            bench.server["/torn"] = Reply(progressive).waiting(for: gates.1, .afterBody(10_000))
                .failing(.reset(.afterBody(10_000)))
            let (view, torn) = (Picture(), Picture())
            view.loadImage(url("/slow"), placeholder: grey, showsPreviews: true, synchronizer: synchronizer)
            torn.loadImage(
                url("/torn"), placeholder: grey, failureImage: broken, showsPreviews: true, synchronizer: synchronizer)
            #expect(try await view.shown.wait(for: 2).map { $0?.width } == [4, 333])
            gates.0.open()
            #expect(try await view.shown.wait(for: 3).last == (try image("reduced-progressive.jpg")))
            #expect(try await torn.shown.wait(for: 2).map { $0?.width } == [4, 333])
            gates.1.open()
            #expect(try await torn.shown.wait(for: 3).last == broken)
        }

        @Test("a cell that was cleared and reused for the same image shows its bytes so far")
        func cleared() async throws {
            let gate = Gate()
            bench.server["/slow"] = Reply(try Samples.data("jpeg-444.jpg"), status: 200).waiting(for: gate, .beforeHead)
            let view = Picture()
            view.loadImage(url("/slow"), placeholder: grey, synchronizer: synchronizer)
            view.displayedImage = nil
            view.loadImage(url("/slow"), placeholder: broken, synchronizer: synchronizer)
            #expect(view.displayedImage === broken)
            gate.open()
            let loaded = try #require(try await view.shown.wait(for: 4).last)
            bench.clock.advance(by: 4000)
            view.displayedImage = nil
            view.loadImage(url("/slow"), placeholder: grey, synchronizer: synchronizer)
            #expect(view.displayedImage === loaded)
            view.cancelLoad()
            view.displayedImage = nil
            view.loadImage(url("/slow"), placeholder: grey, synchronizer: synchronizer)
            #expect(view.displayedImage === loaded)
        }

        @Test("a view whose size changes during the load does not request its image twice")
        func resized() async throws {
            let gate = Gate()
            bench.server["/2"] = Reply(try Samples.data("reduced-420.jpg"), status: 200).waiting(for: gate, .afterHead)
            let view = Picture()
            view.loadImage(url("/2"), sizing: .maxPixelSize(40), synchronizer: synchronizer)
            try await gate.waitForArrivals()
            view.loadImage(url("/2"), sizing: .maxPixelSize(80), synchronizer: synchronizer)
            gate.open()
            try await waitUntil("the image is shown") { view.displayedImage != nil }
            #expect(view.displayedImage?.width == 80)
            #expect(bench.server.requests.count == 1)
        }

        @Test("ten cells that show two sizes of one image: one request, two decodes")
        func tenCells() async throws {
            let gate = Gate()
            bench.server["/2"] = Reply(try Samples.data("reduced-420.jpg"), status: 200).waiting(for: gate, .afterHead)
            let views = (0..<10).map { _ in Picture() }
            for (index, view) in views.enumerated() {
                view.loadImage(
                    url("/2"), sizing: .maxPixelSize(index % 2 == 0 ? 40 : 80), synchronizer: synchronizer)
            }
            gate.open()
            for view in views { try await view.shown.wait(for: 2) }
            #expect(bench.server.requests.count == 1)
            #expect(Set(views.compactMap { $0.displayedImage.map(ObjectIdentifier.init) }).count == 2)
            #expect(Set(views.compactMap { $0.displayedImage?.width }) == [40, 80])
        }

        @Test("an image by a string is answered with the image, or with the placeholder")
        func byString() async throws {
            let answers = Collector<(BitmapImage?, Bool)>()
            func load(_ string: String?) {
                synchronizer.loadImage(urlString: string, placeholder: grey) { answers.append(($0, $1)) }
            }
            load(nil)
            load("")
            #expect(answers.elements.allSatisfy { $0.0 === grey && $0.1 } && answers.count == 2)
            load(url("/0").absoluteString)
            #expect(try await answers.wait(for: 3)[2].0 == (try image("png-rgb-8.png")))
            #expect(!answers.elements[2].1)
            load(url("/0").absoluteString)
            #expect(answers.count == 4 && answers.elements[3].1)
            load(url("/none").absoluteString)
            #expect(try await answers.wait(for: 5)[4].0 === grey)
        }
    }
#endif
