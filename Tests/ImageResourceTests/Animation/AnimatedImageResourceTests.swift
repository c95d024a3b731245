#if !canImport(ImageIO)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("AnimatedImageResource", .bounded)
    struct AnimatedImageResourceTests {
        @Test("sizes of one animation share the request, and not the frames")
        func sizes() async throws {
            let bench = try Workbench()
            let synchronizer = bench.synchronizer(cacheTime: 3600)
            let (url, data) = (bench.server.url("/a.gif"), try Samples.data("gif-disposal-1.gif"))
            bench.server["/a.gif"] = Reply(data, status: 200)
            let resources = [
                AnimatedImageResource(url: url), AnimatedImageResource(url: url, maxPixelSize: 20),
                AnimatedImageResource(url: url, targetSize: CGSize(width: 6, height: 6), scale: 2),
                AnimatedImageResource(
                    url: url, targetSize: CGSize(width: 6, height: 6), contentMode: .aspectFit, scale: 2),
            ]
            for (resource, size) in zip(resources, [(40, 30), (20, 15), (16, 12), (12, 9)]) {
                let animation = try await synchronizer.load(resource)
                let expected = try AnimatedImage(data: data, sizing: resource.sizing)
                #expect(animation.frameCount == expected.frameCount)
                for index in 0..<expected.frameCount {
                    #expect(try animation.frame(at: index) == expected.frame(at: index))
                }
                #expect((animation.firstFrame.width, animation.firstFrame.height) == size)
                #expect(try await synchronizer.load(resource) === animation)
            }
            #expect(bench.server.requests.count == 1)
        }

        @Test("an animation weighs its file, its canvas and two frames where memory is counted")
        func cost() throws {
            let data = try Samples.data("gif-disposal-1.gif")
            let resource = AnimatedImageResource(url: URL(fileURLWithPath: "/a.gif"), maxPixelSize: 20)
            let cost = try resource.cost(of: resource.parse(data), size: data.count)
            #expect(cost >= data.count + 40 * 30 * 4 + 2 * 20 * 15 * 4)
        }

        @Test("a file without an animation is an error that says so")
        func noAnimation() async throws {
            let bench = try Workbench()
            bench.server["/text"] = Reply("this is no image", status: 200)
            let error = await #expect(throws: SynchronizerError.self) {
                try await bench.synchronizer().load(AnimatedImageResource(url: bench.server.url("/text")))
            }
            guard case .undecodable(let cause, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause as? ImageError == .unknownFormat)
        }
    }
#endif
