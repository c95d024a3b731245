import Foundation
import Synchronizer
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@Suite("The system's clock", .bounded)
struct SystemTimeTests {
    private final class Captured: Sendable {}

    @Test("keeps nothing of an action that was cancelled")
    func cancelled() async throws {
        var captured: Captured? = Captured()
        let cancel = SystemTime().schedule(after: 1_000_000) { [captured] in _ = captured }
        weak let remembered = captured
        captured = nil
        #expect(remembered != nil)
        cancel()
        try await waitUntil("freed") { remembered == nil }
    }

    @Test("runs an action, though nothing keeps the closure that cancels it")
    func runs() async throws {
        let ran = Collector<Bool>()
        _ = SystemTime().schedule(after: 0.001) { ran.append(true) }
        try await ran.wait(for: 1)
    }
}

@Suite("A clock that a test moves", .bounded)
struct ManualClockTests {
    @Test("runs timers of zero or fewer seconds at once", arguments: [0, -1])
    func noDelay(delay: TimeInterval) async throws {
        let ran = Collector<Bool>()
        _ = ManualClock().schedule(after: delay) { ran.append(true) }
        try await ran.wait(for: 1)
    }

    @Test("runs the first timer that falls due of those in a range")
    func order() async throws {
        let clock = ManualClock()
        let ran = Collector<Int>()
        for delay in [5, 3, 9, 1, 7] { _ = clock.schedule(after: TimeInterval(delay)) { ran.append(delay) } }
        for _ in 0..<4 { try await clock.runTimer(after: 2...10) }
        #expect(ran.elements == [3, 5, 7, 9])
    }

    @Test("a load with Retry-After: 0 is retried at once")
    func retry() async throws {
        let replies = Locked([Reply("", status: 503, fields: ["Retry-After": "0"]), Reply("hello")])
        var configuration = Synchronizer.Configuration.test(time: ManualClock())
        configuration.retry = RetryPolicy()
        let synchronizer = Synchronizer.stub(configuration: configuration) { _ in
            replies.withLock { $0.removeFirst() }
        }
        let url = try #require(URL(string: "https://example.com/a"))
        #expect(try await synchronizer.load(DataResource(url: url)) == Data("hello".utf8))
    }
}
