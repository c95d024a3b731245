import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Lifetimes of objects", .bounded)
struct LifetimeTests {
    let bench: Workbench

    init() throws {
        bench = try Workbench()
        bench.server["/a"] = Reply("abc", fields: ["Cache-Control": "max-age=100"])
    }

    @Test("a synchronizer that is let go of does not wait for the time limit of its loads")
    func timeLimit() async throws {
        weak var leaked: Synchronizer?
        weak var leakedLoader: Loader?
        do {
            let synchronizer = bench.synchronizer { $0.timeoutForLoad = 600 }
            (leaked, leakedLoader) = (synchronizer, synchronizer.loader)
            _ = try await synchronizer.load(DataResource(url: bench.server.url("/a")))
        }
        try await waitUntil("both are gone") { leaked == nil && leakedLoader == nil }
    }

    /// Ends another load when it goes away, which takes the loader's lock.
    final class Canceller: Sendable {
        let cancel: CancelLoading
        init(_ cancel: @escaping CancelLoading) { self.cancel = cancel }
        deinit { cancel() }
    }

    struct Holding: Resource {
        let url: URL
        let canceller: Canceller
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Int {
            { [canceller] data in withExtendedLifetime(canceller) { data.count } }
        }
    }

    @Test("a caller's objects are released outside of the loader's lock", arguments: [false, true])
    func deinitialisers(isCancelled: Bool) async throws {
        let gate = Gate()
        bench.server["/gated"] = Reply("x").waiting(for: gate)
        let synchronizer = bench.synchronizer()
        for _ in 0..<20 {
            let other = synchronizer.loadResource(DataResource(url: bench.server.url("/gated"))) { _ in }
            let done = Collector<Bool>()
            let cancel: CancelLoading = {
                let holding = Holding(url: bench.server.url("/a"), canceller: Canceller(other))
                return synchronizer.loadResource(holding, on: .global()) { _ in done.append(true) }
            }()
            if isCancelled { cancel() } else { try await done.wait(for: 1) }
        }
        gate.open()
        try await synchronizer.waitUntilIdle()
    }
}
