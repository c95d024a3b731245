import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Scrolling", .bounded)
@MainActor struct ScrollingTests {
    static let visible = 12
    static let cells = 1_000

    let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    @Test("1,000 cells with 12 visible waste no more requests than are visible and in flight at once")
    func wasted() async throws {
        let gate = Gate()
        bench.server.handle("/cell") { request in Reply(request.target).waiting(for: gate) }
        let synchronizer = bench.synchronizer()
        let answers = Collector<Int>()
        var cancels: [CancelLoading] = []
        for number in 0..<Self.cells {
            if number == Self.visible { try await gate.waitForArrivals(synchronizer.configuration.maximumLoadsPerHost) }
            if number >= Self.visible { cancels[number - Self.visible]() }
            let resource = DataResource(url: bench.server.url("/cell?\(number)"))
            cancels.append(synchronizer.loadResource(resource) { _ in answers.append(number) })
        }
        gate.open()
        bench.clock.advance(by: 4 * CancellationThrottle.pause)  // the finger rests
        try await answers.wait(for: Self.visible)
        let wasted = bench.server.counts.requests - Self.visible
        #expect(wasted <= Self.visible + synchronizer.configuration.maximumLoads)
        #expect(answers.elements.sorted() == Array(Self.cells - Self.visible..<Self.cells))
        try await synchronizer.waitUntilIdle()
    }
}
