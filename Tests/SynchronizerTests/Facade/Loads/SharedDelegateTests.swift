import Foundation
import ScriptedServer
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("A delegate of several synchronizers", .bounded)
struct SharedDelegateTests {
    /// A subclass sees the events of all sessions, and passes them on.
    private final class Counting: SessionDelegate, @unchecked Sendable {  // its own state is Locked
        let sessions = Locked<Set<ObjectIdentifier>>([])

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            sessions.withLock { _ = $0.insert(ObjectIdentifier(session)) }
            super.urlSession(session, task: task, didCompleteWithError: error)
        }
    }

    let bench: Workbench
    private let delegate = Counting()

    init() throws {
        bench = try Workbench()
        for path in ["/0", "/1", "/2", "/3", "/c"] { bench.server[path] = Reply(path) }
    }

    private func synchronizer() -> Synchronizer {
        bench.synchronizer(delegate: delegate) { $0.urlCache = nil }
    }

    private func resource(_ path: String) -> DataResource { DataResource(url: bench.server.url(path)) }

    @Test("passes each event to the synchronizer whose session it is")
    func turns() async throws {
        let (first, second) = (synchronizer(), synchronizer())
        for (index, synchronizer) in [first, second, first, second].enumerated() {
            #expect(try await synchronizer.load(resource("/\(index)")) == Data("/\(index)".utf8))
        }
        #expect(delegate.sessions.withLock { $0.count } == 2)
    }

    @Test("serves loads of both at the same time")
    func together() async throws {
        let gate = Gate()
        for path in ["/one", "/two"] { bench.server[path] = Reply(path).waiting(for: gate, .afterBody(1)) }
        let (first, second) = (synchronizer(), synchronizer())
        async let one = first.load(resource("/one"))
        async let two = second.load(resource("/two"))
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await one == Data("/one".utf8))
        #expect(try await two == Data("/two".utf8))
    }

    @Test("serves the one that stays when another is released", arguments: [false, true])
    func released(isFirstReleased: Bool) async throws {
        let gate = Gate()
        bench.server["/b"] = Reply("b").waiting(for: gate)
        var synchronizers = [synchronizer(), synchronizer()]
        for synchronizer in synchronizers { _ = try await synchronizer.load(resource("/0")) }
        let staying = synchronizers[isFirstReleased ? 1 : 0]
        async let inFlight = staying.load(resource("/b"))
        try await gate.waitForArrivals(1)
        synchronizers = []
        gate.open()
        #expect(try await inFlight == Data("b".utf8))
        #expect(try await staying.load(resource("/c")) == Data("/c".utf8))
    }
}
