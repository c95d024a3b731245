import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A stored body that goes to a file", .bounded)
struct FileThreadTests {
    enum Use: CaseIterable {
        case confirmed
        case stale
        case redirected
    }

    /// A large body takes long to verify. The thread on which a session reports the ends of transfers also ends other loads.
    @Test("is not read on the thread that reports the end of a transfer", arguments: Use.allCases)
    func otherThread(_ use: Use) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "hello"))
        harness.load()
        var target = "http://a.example/x"
        switch use {
        case .confirmed: harness.transport.serve { _ in FakeReply(304, ["ETag": "\"1\""]) }
        case .stale: harness.transport.serve { _ in .failure(.cannotConnectToHost) }
        case .redirected:
            target = "http://a.example/y"
            harness.transport.serve { _ in FakeReply(302, ["Location": "/x"]) }
        }
        if use != .redirected { harness.clock.advance(by: 100) }
        let thread = ObjectIdentifier(Thread.current)
        let reads = Locked<[Bool]>([])
        harness.store.duringRead { reads.withLock { $0.append(ObjectIdentifier(Thread.current) == thread) } }
        let (events, end) = (Events(), DispatchSemaphore(value: 0))
        let folder = DisposableDirectory("file-threads")
        var options = FetchOptions(maximumBodySize: 1 << 20)
        options.file = FileTarget(folder.url.appendingPathComponent("file"))
        events.fetch = harness.fetcher.fetch(harness.request(target), options: options) { event in
            events.note(event)
            if case .finished = event { end.signal() }
        }
        events.fetch?.proceed()
        end.wait()
        #expect(events.body == "hello")
        #expect(reads.withLock { $0 } == [false])
    }
}
