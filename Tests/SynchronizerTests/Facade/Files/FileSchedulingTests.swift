import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Files in the order of loads", .bounded)
struct FileSchedulingTests {
    @Test("come by their priorities, as many at a time as a host has slots, and an observer sees each")
    func order() async throws {
        let (files, gate, recorder) = (try FileBench(), Gate(), ObservingTests.Recorder())
        let (server, body) = (files.bench.server, FileBench.body(200_000))
        server["/blocker"] = Reply(body).waiting(for: gate)
        server.handle("/x") { _ in Reply(body) }
        let synchronizer = files.bench.synchronizer(cache: files.bench.cache()) {
            $0.maximumLoadsPerHost = 1
            $0.observer = recorder
        }
        let done = Collector<Void>()
        func start(_ name: String, _ target: String, _ priority: LoadPriority) {
            synchronizer.loadResource(files.resource(name, target), priority: priority, on: .global()) { _ in
                done.append(())
            }
        }
        start("blocker", "/blocker", .normal)
        try await gate.waitForArrivals()
        for (name, priority) in [("low", LoadPriority.low), ("high", .high), ("normal", .normal)] {
            start(name, "/x?\(name)", priority)
        }
        try await waitUntil("all wait for the network") { recorder.names.count { $0 == "needsNetwork" } >= 4 }
        #expect(server.requests.count == 1)
        gate.open()
        try await done.wait(for: 4)
        #expect(server.requests.dropFirst().map(\.query) == ["high", "normal", "low"])
        #expect(["blocker", "high", "normal", "low"].allSatisfy { files.content($0) == body })
        for kind in ["queued", "sent", "response", "parsed", "finished"] {
            #expect(recorder.names.count { $0 == kind } == 4, "\(kind)")
        }
        #expect(Set(recorder.events.elements.map(\.load)).count == 4)
    }
}
