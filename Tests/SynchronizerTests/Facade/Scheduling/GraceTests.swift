import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Grace", .bounded)
struct GraceTests {
    let bench: Workbench
    let synchronizer: Synchronizer
    let gate = Gate()
    let resource: DataResource

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer { $0.cancellationGracePeriod = 5 }
        resource = DataResource(url: bench.server.url("/a"))
        bench.server["/a"] = Reply(Data(repeating: 1, count: 50_000)).waiting(for: gate, .afterBody(20_000))
    }

    func leaveInFlight() async throws {
        let cancel = synchronizer.loadResource(resource, on: .global()) { _ in Issue.record("was cancelled") }
        try await gate.waitForArrivals()
        cancel()
    }

    @Test("a cell that reappears at once continues its load")
    func comesBack() async throws {
        try await leaveInFlight()
        bench.clock.advance(by: 4)
        let back = Collector<Int>()
        synchronizer.loadResource(resource, on: .global()) { result in
            if case .success(let data) = result { back.append(data.count) }
        }
        bench.clock.advance(by: 4)
        gate.open()
        #expect(try await back.wait(for: 1) == [50_000])
        #expect(bench.server.counts.requests == 1)
    }

    @Test("a request that no other load can join has none")
    func unsafe() async throws {
        var request = resource.request()
        request.httpMethod = "POST"
        let cancel = synchronizer.loadResource(DataResource(request: request), on: .global()) { _ in }
        try await gate.waitForArrivals()
        cancel()
        #expect(synchronizer.loader.update { $0.machine.isIdle })
        try await bench.server.waitUntilConnectionsClosed()
    }

    @Test("after it the request is cancelled")
    func ends() async throws {
        try await leaveInFlight()
        #expect(!synchronizer.loader.update { $0.machine.isIdle })
        bench.clock.advance(by: 5)
        #expect(synchronizer.loader.update { $0.machine.isIdle })
        try await bench.server.waitUntilConnectionsClosed()
        #expect(bench.server.counts.repliesAbandoned == 1)
    }
}
