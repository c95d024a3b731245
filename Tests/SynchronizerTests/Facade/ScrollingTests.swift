import Foundation
import ScriptedServer
import TestSupport
import Testing

@testable import Synchronizer

@Suite("Scrolling", .timeLimit(.minutes(2)))
@MainActor struct ScrollingTests {
    static let visible = 12
    static let cells = 1_000

    let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    /// Scrolls past all cells at once, as a fling does, and stays at the last ones.
    func fling(_ synchronizer: Synchronizer) async -> Int {
        let answers = Collector<Int>()
        var cancels: [CancelLoading] = []
        for number in 0..<Self.cells {
            if number >= Self.visible { cancels[number - Self.visible]() }
            let resource = DataResource(url: bench.server.url("/cell?\(number)"))
            cancels.append(
                synchronizer.loadResource(resource) { _ in answers.append(number) })
        }
        await answers.wait(for: Self.visible)
        return answers.count
    }

    @Test("1,000 cells with 12 visible waste no more requests than are visible and under way at once")
    func wasted() async throws {
        bench.server.handle("/cell") { request in Reply(request.target) }
        let synchronizer = bench.synchronizer()
        let answered = await fling(synchronizer)
        #expect(answered == Self.visible)
        print("WASTED", bench.server.counts.requests - answered)
        #expect(bench.server.counts.requests - answered <= Self.visible + synchronizer.configuration.maximumLoads)
    }

    @Test("slow")
    func wasted2() async throws {
        let gate = Gate()
        bench.server.handle("/cell") { request in Reply(request.target).waiting(for: gate) }
        let synchronizer = bench.synchronizer()
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { gate.open() }
        let answered = await fling(synchronizer)
        #expect(answered == Self.visible)
        print("WASTED slow", bench.server.counts.requests - answered)
        #expect(bench.server.counts.requests - answered <= Self.visible + synchronizer.configuration.maximumLoads)
    }
}
