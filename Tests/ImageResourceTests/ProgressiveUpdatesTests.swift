import Foundation
import ImageResource
import ScriptedServer
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("Previews of an image that arrives slowly", .bounded)
struct ProgressiveUpdatesTests {
    @Test("updates give previews while the bytes arrive, and the complete image last")
    func previews() async throws {
        let bench = try Workbench()
        let photograph = try #require(SamplePhotograph.all().first { $0.file.hasPrefix("rocket") })
        let gate = Gate()
        bench.server["/a.jpg"] = Reply(photograph.data).waiting(for: gate, .afterBody(photograph.data.count / 2))
        let resource = ImageResource(url: bench.server.url("/a.jpg"))
        var phases: [ResourceUpdate<PlatformImage>.Phase] = []
        var sizes: [Int] = []
        for try await update in bench.synchronizer().updates(of: resource) {
            phases.append(update.phase)
            sizes.append(Int(update.object.size.width))
            gate.open()  // the rest comes once something has been shown of the first half
        }
        #expect(phases.first == .preview)
        #expect(phases.last == .fresh)
        #expect(phases.filter { $0 == .fresh }.count == 1)
        #expect(Set(sizes) == [photograph.width])
    }
}
