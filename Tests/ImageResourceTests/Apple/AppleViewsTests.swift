#if canImport(UIKit) && !os(watchOS) || canImport(AppKit)
    import Foundation
    import ScriptedServer
    import SwiftUI
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    #if canImport(UIKit)
        import UIKit
    #else
        import AppKit
    #endif

    /// On Apple's systems with the real modules, on Linux with stubs of them: `Scripts/check-apple`.
    @Suite("The platform's image view", .bounded)
    @MainActor
    struct AppleViewsTests {
        /// A photograph of which something is shown while it arrives; the stubs know PNG only.
        #if canImport(Darwin)
            private static let photograph = "rocket.jpg"
        #else
            private static let photograph = "chelsea.png"
        #endif

        private let bench: Workbench
        private let synchronizer: Synchronizer

        init() throws {
            bench = try Workbench()
            synchronizer = bench.synchronizer(cacheTime: 3600)
            bench.server["/image"] = Reply(try AppleSamples.data(), status: 200, fields: [:])
            bench.server["/none"] = Reply("no such image", status: 404)
        }

        private func image() throws -> PlatformImage { try ImageDecoding.image(from: AppleSamples.data()) }

        /// Serves the photograph at `/slow`, and stops in the middle until the gate is opened.
        private func serveHalf() throws -> Gate {
            let data = try #require(SamplePhotograph.all().first { $0.file == Self.photograph }).data
            let gate = Gate()
            bench.server["/slow"] = Reply(data).waiting(for: gate, .afterBody(data.count / 2))
            return gate
        }

        private func wait(for view: PlatformImageView, until isWanted: (PlatformImage?) -> Bool) async throws {
            try await waitUntil("the view shows what is wanted") { isWanted(view.image) }
        }

        @Test("an image is loaded and shown, at the size of the view")
        func loads() async throws {
            let view = PlatformImageView(frame: CGRect(x: 0, y: 0, width: 4, height: 4))
            let grey = try image()
            view.loadImage(bench.server.url("/image"), placeholder: grey, synchronizer: synchronizer)
            #expect(view.image === grey)
            try await wait(for: view) { $0 !== grey }
            #expect(view.image?.size.width ?? 0 < 31)
            #expect(bench.server.requests.count == 1)
        }

        @Test("an image in memory is shown before the call returns")
        func memory() async throws {
            let (first, second) = (PlatformImageView(frame: .zero), PlatformImageView(frame: .zero))
            first.loadImage(bench.server.url("/image"), synchronizer: synchronizer)
            try await wait(for: first) { $0 != nil }
            second.loadImage(bench.server.url("/image"), synchronizer: synchronizer)
            #expect(second.image === first.image)
        }

        @Test("a view without a layout requests the size of the screen, at the screen's scale")
        func beforeLayout() async throws {
            let sizing = PlatformImageView(frame: .zero).imageSizing
            #if os(macOS)
                #expect(sizing.scale >= 1)  // of a screen with one pixel per point
            #else
                #expect(sizing.scale > 1)
            #endif
            #expect(sizing.size(for: PixelSize(width: 12_000, height: 12_000)).width < 12_000)
        }

        @Test("an image that can't be loaded shows the failure image")
        func failure() async throws {
            let view = PlatformImageView(frame: .zero)
            let broken = try image()
            view.loadImage(bench.server.url("/none"), failureImage: broken, synchronizer: synchronizer)
            try await wait(for: view) { $0 === broken }
        }

        @Test("the loads belong to the view, and go with it")
        func association() async throws {
            let gate = Gate()
            bench.server["/slow"] = Reply(try AppleSamples.data(), status: 200).waiting(for: gate, .beforeHead)
            var view: PlatformImageView? = PlatformImageView(frame: .zero)
            #expect(view?.imageLoads === view?.imageLoads)
            #expect(view?.imageLoads !== PlatformImageView(frame: .zero).imageLoads)
            view?.loadImage(bench.server.url("/slow"), synchronizer: synchronizer)
            try await gate.waitForArrivals(1)
            view = nil
            try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
        }

        @Test("with showsPreviews, the bytes so far are shown until the image is complete")
        func previews() async throws {
            let gate = try serveHalf()
            let (view, plain) = (PlatformImageView(frame: .zero), PlatformImageView(frame: .zero))
            let url = bench.server.url("/slow")
            view.loadImage(url, sizing: .stored, showsPreviews: true, synchronizer: synchronizer)
            plain.loadImage(url, sizing: .stored, synchronizer: synchronizer)
            try await wait(for: view) { $0 != nil }
            #expect(plain.image == nil)
            let preview = view.image
            gate.open()
            try await wait(for: view) { $0 !== preview && $0 === plain.image }
            #expect(view.image?.size == preview?.size)
        }

        @Test("cancelLoad leaves the visible image")
        func cancelled() async throws {
            let gate = Gate()
            bench.server["/slow"] = Reply(try AppleSamples.data(), status: 200).waiting(for: gate, .beforeHead)
            let view = PlatformImageView(frame: .zero)
            let grey = try image()
            view.loadImage(bench.server.url("/slow"), placeholder: grey, synchronizer: synchronizer)
            try await gate.waitForArrivals(1)
            view.cancelLoad()
            try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
            #expect(view.image === grey)
        }

        @Test("the seed's call works")
        func seed() throws {
            let view = PlatformImageView(frame: .zero)
            let (placeholder, error) = (try image(), try image())
            view.loadImage(urlString: "", placeholderImage: placeholder, errorImage: error)
            #expect(view.image === error)
        }

        /// What a SwiftUI view was asked to show.
        private final class Shown {
            private(set) var phases: [String] = []

            func note(_ phase: String) -> EmptyView {
                phases.append(phase)
                return EmptyView()
            }
        }

        @Test(
            "a ResourceImage shows its placeholder until the image is there, and then the image, from the first frame on"
        )
        func resourceImage() async throws {
            let url = bench.server.url("/image")
            let shown = Shown()
            func draw() {
                _ =
                    ResourceImage(url: url, synchronizer: synchronizer) { _ in
                        shown.note("image")
                    } placeholder: {
                        shown.note("placeholder")
                    }.body.body
                _ =
                    ResourceImage(url: url, synchronizer: synchronizer, transaction: Transaction(animation: .default)) {
                        shown.note($0.image == nil ? "empty" : "success")
                    }.body.body
                _ = ResourceImage(url: url, synchronizer: synchronizer).body.body
                _ =
                    ResourceImage(url: nil, synchronizer: synchronizer) {
                        shown.note($0.error == nil ? "none" : "failure")
                    }
                    .body.body
            }
            draw()
            _ = try await synchronizer.load(ImageResource(url: url))
            draw()
            #expect(shown.phases == ["placeholder", "empty", "none", "image", "success", "none"])
        }

        @Test("the task of a SwiftUI view is that of one view, though there may be nothing to show, or this or that")
        func oneView() {
            let body = ResourceImage(url: nil, synchronizer: synchronizer).body.body
            #expect("\(type(of: body))".contains("ZStack<"))
        }

        @Test("a SwiftUI view shows previews with showsPreviews")
        func modelWithPreviews() async throws {
            let gate = try serveHalf()
            let resource = ImageResource(url: bench.server.url("/slow"))
            let model = ResourceModel<RemoteImage>()
            let task = Task {
                await model.follow(resource, identity: resource.identity, from: synchronizer, showsPreviews: true)
            }
            func phase() -> ResourceBinding<RemoteImage>.Phase {
                model.phase(for: resource, identity: resource.identity, from: synchronizer, changingBy: Transaction())
            }
            try await waitUntil("a preview is shown") { if case .preview = phase() { true } else { false } }
            #expect(ResourceImagePhase(phase()).image != nil)
            gate.open()
            try await waitUntil("the image is shown") { if case .success = phase() { true } else { false } }
            task.cancel()
            await task.value
        }

        @Test("a SwiftUI view loads while its task runs, and shows an object in memory at once")
        func model() async throws {
            let resource = ImageResource(url: bench.server.url("/image"))
            let model = ResourceModel<RemoteImage>()
            #expect(model.phase(for: nil, identity: nil, from: synchronizer, changingBy: Transaction()).object == nil)
            let task = Task { await model.follow(resource, identity: resource.identity, from: synchronizer) }
            try await waitUntil("the image is shown") {
                model.phase(for: resource, identity: resource.identity, from: synchronizer, changingBy: Transaction())
                    .object != nil
            }
            task.cancel()
            await task.value
            let other = ResourceModel<RemoteImage>()
            #expect(
                other.phase(for: resource, identity: resource.identity, from: synchronizer, changingBy: Transaction())
                    .object != nil)
        }

        #if !canImport(Darwin)
            @Test(
                "an image fades into a SwiftUI view if it was loaded, and not if it was in memory, whatever was there before"
            )
            func fades() async throws {
                bench.server["/other"] = Reply(try AppleSamples.data(), status: 200)
                let (one, other) = (
                    ImageResource(url: bench.server.url("/image")), ImageResource(url: bench.server.url("/other"))
                )
                let duration = 0.1234  // no other test has it
                let transaction = Transaction(animation: .easeInOut(duration: duration))
                func show(_ resource: RemoteImage, in model: ResourceModel<RemoteImage>) async throws {
                    let tasks = model.followed
                    let task = Task { await model.follow(resource, identity: resource.identity, from: synchronizer) }
                    try await waitUntil("the image is shown") {
                        let phase = model.phase(
                            for: resource, identity: resource.identity, from: synchronizer, changingBy: transaction)
                        return phase.object != nil && model.followed > tasks
                    }
                    task.cancel()
                    await task.value
                }
                let model = ResourceModel<RemoteImage>()
                for (resource, fades) in [(one, 1), (other, 2), (one, 2)] {
                    try await show(resource, in: model)
                    #expect(StubAnimations.count(lasting: duration) == fades)
                }
                try await show(other, in: ResourceModel())
                #expect(StubAnimations.count(lasting: duration) == 2)
            }
        #endif

        @Test("a task that ends late does not cancel the load of the next one, for the same resource")
        func lateEnd() async throws {
            let gate = Gate()
            bench.server["/slow"] = Reply(try AppleSamples.data(), status: 200).waiting(for: gate, .beforeHead)
            let model = ResourceModel<RemoteImage>()
            let resource = ImageResource(url: bench.server.url("/slow"))
            let first = Task { await model.follow(resource, identity: resource.identity, from: synchronizer) }
            try await gate.waitForArrivals(1)
            let started = model.followed
            let second = Task { await model.follow(resource, identity: resource.identity, from: synchronizer) }
            try await waitUntil("the second task has begun") { model.followed != started }
            first.cancel()
            await first.value
            gate.open()
            try await waitUntil("the image is shown") {
                model.phase(for: resource, identity: resource.identity, from: synchronizer, changingBy: Transaction())
                    .object != nil
            }
            second.cancel()
            await second.value
        }

        @Test("a SwiftUI view that goes away takes its load with it")
        func modelGone() async throws {
            let gate = Gate()
            bench.server["/slow"] = Reply(try AppleSamples.data(), status: 200).waiting(for: gate, .beforeHead)
            let model = ResourceModel<RemoteImage>()
            let url = bench.server.url("/slow")
            let resource = ImageResource(url: url)
            let task = Task { await model.follow(resource, identity: resource.identity, from: synchronizer) }
            try await gate.waitForArrivals(1)
            task.cancel()
            await task.value
            try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
        }
    }
#endif
