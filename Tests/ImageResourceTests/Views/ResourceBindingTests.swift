#if !canImport(ImageIO)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("A binding that shows previews", .bounded)
    @MainActor
    struct ResourceBindingTests {
        private let bench: Workbench
        private let synchronizer: Synchronizer
        /// A progressive JPEG of 333 × 251 pixels.
        private let progressive: Data

        init() throws {
            bench = try Workbench()
            synchronizer = bench.synchronizer()
            progressive = try Samples.data("reduced-progressive.jpg")
        }

        private func image(_ path: String) -> ImageResource { ImageResource(url: bench.server.url(path)) }

        private func bytes(_ path: String) -> DataResource { DataResource(url: bench.server.url(path)) }

        /// The progressive image, which stops in the middle.
        private func halting(at gate: Gate) -> Reply {
            Reply(progressive, fields: ["Cache-Control": "max-age=10"]).waiting(for: gate, .afterBody(10_000))
        }

        private func serve(_ text: String, etag: String) {
            bench.server["/a"] = Reply(text, fields: ["Cache-Control": "max-age=10", "ETag": etag]).conditional()
        }

        /// Has "old" stored and in memory, 20 seconds ago, with a lifetime of 10.
        private func storeStale() async throws {
            serve("old", etag: "\"1\"")
            _ = try await synchronizer.load(bytes("/a"))
            bench.clock.advance(by: 20)
        }

        /// Each call of `request()` gives a new token.
        private struct Rotating: Resource {
            let url: URL
            let calls = Collector<Void>()

            func request() -> URLRequest {
                calls.append(())
                var request = URLRequest(url: url)
                request.setValue("t\(calls.elements.count)", forHTTPHeaderField: "Authorization")
                return request
            }

            var parse: @Sendable (Data) throws -> String { { String(decoding: $0, as: UTF8.self) } }
        }

        @Test(
            "a resource is asked for its request once a load, and another token is another load",
            arguments: [true, false])
        func rotating(showsPreviews: Bool) async throws {
            bench.server.handle("/a") { Reply($0["Authorization"] ?? "", fields: ["Cache-Control": "max-age=10"]) }
            let resource = Rotating(url: bench.server.url("/a"))
            let shown = Shown<Rotating>(synchronizer)
            for count in 1...2 {
                shown.load(resource, showsPreviews: showsPreviews)
                _ = try await shown.end(of: count)
                #expect(resource.calls.elements.count == count)
            }
            #expect(shown.phases.elements.compactMap(\.object) == ["t1", "t2"])
            #expect(bench.server.requests.map { $0["Authorization"] } == ["t1", "t2"])
        }

        @Test("each preview of a slow image is closer to it, and the last image is complete")
        func slow() async throws {
            let (first, second) = (Gate(), Gate())
            bench.server["/a"] = Reply(progressive).waiting(for: first, .afterBody(7000))
                .waiting(for: second, .afterBody(14_000))
            let shown = Shown<ImageResource>(synchronizer)
            shown.load(image("/a"))
            #expect(shown.names == ["loading"])
            try await shown.phases.wait(for: 2)
            first.open()
            try await second.waitForArrivals()
            try await bench.clock.runTimer(after: 0.1...0.3)  // when the next preview is due
            second.open()
            let names = try await shown.end()
            #expect(names.dropFirst().dropLast().allSatisfy { $0 == "preview" } && names.last == "success")
            let final = try BitmapImage.decode(progressive, sizing: .stored)
            let pictures = shown.phases.elements.compactMap(\.object)
            let decibels = pictures.map { Pixels.decibels($0, final) }
            #expect(decibels.first ?? 0 > 20)
            #expect(decibels == decibels.sorted())
            #expect(pictures.last == final)
            #expect(shown.binding?.phase.object === pictures.last)
        }

        @Test("a view without showsPreviews shows no preview")
        func unasked() async throws {
            let gate = Gate()
            bench.server["/a"] = halting(at: gate)
            let (plain, other) = (Shown<ImageResource>(synchronizer), Shown<ImageResource>(synchronizer))
            other.load(image("/a"))
            plain.load(image("/a"), showsPreviews: false)
            try await other.phases.wait(for: 2)
            gate.open()
            #expect(try await plain.end() == ["loading", "success"])
            #expect(try await other.end() == ["loading", "preview", "success"])
            #expect(bench.server.requests.count == 1)
        }

        @Test("an object in memory is shown before the call returns, and nothing else")
        func memory() async throws {
            bench.server["/a"] = Reply(progressive, fields: ["Cache-Control": "max-age=10"])
            let loaded = try await synchronizer.load(image("/a"))
            let shown = Shown<ImageResource>(synchronizer)
            shown.load(image("/a"))
            #expect(shown.names == ["success"])
            #expect(shown.binding?.phase.object === loaded)
        }

        @Test("a stale entry is shown first, then the server's response")
        func stored() async throws {
            try await storeStale()
            synchronizer.removeAllObjects()
            let gate = Gate()
            bench.server["/a"] = Reply("new", fields: ["ETag": "\"2\""]).waiting(for: gate)
            let shown = Shown<DataResource>(synchronizer)
            shown.load(bytes("/a"))
            try await shown.phases.wait(for: 2)
            gate.open()
            #expect(try await shown.end() == ["loading", "preview", "success"])
            #expect(shown.phases.elements.compactMap(\.object) == [Data("old".utf8), Data("new".utf8)])
        }

        @Test("a stale object in memory is shown before the call returns, in place of the placeholder")
        func staleInMemory() async throws {
            try await storeStale()
            let shown = Shown<DataResource>(synchronizer)
            shown.load(bytes("/a"))
            #expect(shown.names == ["preview"])
            #expect(try await shown.end() == ["preview", "success"])
            #expect(bench.server.counts.replies[304] == 1)
        }

        @Test("a stale image is not replaced by a preview of the new one")
        func staleImage() async throws {
            bench.server["/a"] = Reply(try Samples.data("jpeg-420.jpg"), fields: ["Cache-Control": "max-age=10"])
            _ = try await synchronizer.load(image("/a"))
            bench.clock.advance(by: 20)
            let (start, gate) = (Gate(), Gate())
            bench.server["/a"] = halting(at: gate).waiting(for: start)
            let shown = Shown<ImageResource>(synchronizer)
            shown.load(image("/a"))
            let previewed = Collector<Bool>()
            synchronizer.followResource(image("/a")) { step in
                if case .success(let update) = step, update.phase == .preview { previewed.append(true) }
            }
            start.open()
            try await previewed.wait(for: 1)
            gate.open()
            #expect(try await shown.end() == ["preview", "success"])
            #expect(shown.phases.elements.map { $0.object?.width } == [45, 333])
        }

        @Test("the visible image stays while it is loaded again, without previews")
        func again() async throws {
            bench.server["/a"] = Reply(try Samples.data("jpeg-420.jpg"), fields: ["Cache-Control": "max-age=10"])
            let shown = Shown<ImageResource>(synchronizer)
            shown.load(image("/a"))
            _ = try await shown.end()
            bench.clock.advance(by: 20)
            bench.server["/a"] = Reply(progressive)
            shown.load(image("/a"))
            #expect(try await shown.end(of: 2).suffix(2) == ["success", "success"])
        }

        @Test("after a cancel the visible image stays while it is loaded again")
        func cancelledAgain() async throws {
            serve("old", etag: "\"1\"")
            let shown = Shown<DataResource>(synchronizer)
            shown.load(bytes("/a"), showsPreviews: false)
            _ = try await shown.end()
            bench.clock.advance(by: 20)
            shown.load(bytes("/a"), showsPreviews: false)
            shown.binding?.cancel()
            shown.load(bytes("/a"), showsPreviews: false)
            #expect(try await shown.end(of: 2) == ["loading", "success", "success"])
        }

        @Test("a load that fails after a preview is a failure")
        func failure() async throws {
            let gate = Gate()
            bench.server["/a"] = halting(at: gate).failing(.reset(.afterBody(10_000)))
            let shown = Shown<ImageResource>(synchronizer)
            shown.load(image("/a"))
            try await shown.phases.wait(for: 2)
            gate.open()
            #expect(try await shown.end() == ["loading", "preview", "failure"])
        }

        @Test("no data is no object", arguments: [false, true])
        func noData(showsPreviews: Bool) async throws {
            bench.server["/a"] = Reply("")
            let shown = Shown<JSONResource<Int>>(synchronizer)
            shown.load(JSONResource(url: bench.server.url("/a")), showsPreviews: showsPreviews)
            #expect(try await shown.end() == ["loading", "failure"])
            guard case .failure(SynchronizerError.noData(let context))? = shown.binding?.phase else {
                Issue.record("\(String(describing: shown.binding?.phase))")
                return
            }
            #expect(context.url == bench.server.url("/a"))
        }

        @Test("after a cancel the preview stays, and the load ends")
        func cancelled() async throws {
            let gate = Gate()
            bench.server["/a"] = halting(at: gate)
            let shown = Shown<ImageResource>(synchronizer)
            shown.load(image("/a"))
            try await shown.phases.wait(for: 2)
            shown.binding?.cancel()
            try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
            #expect(shown.names == ["loading", "preview"])
            #expect(shown.binding?.phase.object?.width == 333)
        }

        @Test("a binding that goes away takes its load with it")
        func gone() async throws {
            let gate = Gate()
            bench.server["/a"] = halting(at: gate)
            let shown = Shown<ImageResource>(synchronizer)
            shown.load(image("/a"))
            try await shown.phases.wait(for: 2)
            shown.release()
            try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
            #expect(shown.names == ["loading", "preview"])
        }

        @Test("a reused cell shows no previews of the image that it loaded before")
        func reused() async throws {
            let gate = Gate()
            bench.server["/a"] = halting(at: gate)
            bench.server["/b"] = Reply(try Samples.data("png-rgb-8.png"))
            let shown = Shown<ImageResource>(synchronizer)
            shown.load(image("/a"))
            try await shown.phases.wait(for: 2)
            shown.load(image("/b"))
            try await bench.server.wait(for: "the load to end") { $0.connectionsClosedByPeer > 0 }
            #expect(try await shown.end() == ["loading", "preview", "loading", "success"])
            #expect(shown.binding?.phase.object?.width == 31)
        }

        @Test("a view that loads another resource during a preview gets that one, and the first load ends")
        func loadingWithinShow() async throws {
            let givenUp = GivenUp()
            let synchronizer = bench.synchronizer { $0.observer = givenUp }
            serve("old", etag: "\"1\"")
            _ = try await synchronizer.load(bytes("/a"))
            bench.clock.advance(by: 20)
            bench.server["/a"] = Reply("new").waiting(for: Gate())
            bench.server["/b"] = Reply("other")
            let shown = Shown<DataResource>(synchronizer)
            let other = bytes("/b")
            shown.react = { [weak shown] phase in
                if phase.object == Data("old".utf8) { shown?.load(other) }
            }
            shown.load(bytes("/a"))
            #expect(try await shown.end() == ["preview", "loading", "success"])
            #expect(shown.binding?.phase.object == Data("other".utf8))
            #expect(try await givenUp.paths.wait(for: 1) == ["/a"])
        }
    }
#endif
