import Foundation
import ScriptedServer
import TestSupport
import Testing

@testable import Synchronizer

// When the stored object is shown.
extension UpdatesTests {
    /// Its parse waits for a signal.
    struct SlowText: Resource {
        let url: URL
        let mayParse: DispatchSemaphore
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> String {
            { [mayParse] data in
                mayParse.wait()
                return String(decoding: data, as: UTF8.self)
            }
        }
    }

    @Test("the stored object comes before a failure, however long its parse takes", arguments: [404, 500])
    func failureDuringParse(status: Int) async throws {
        try await storeStale()
        bench.server["/a"] = Reply("no", status: status)
        let (slow, texts) = (SlowText(url: resource.url, mayParse: DispatchSemaphore(value: 0)), Collector<String>())
        let ended = Task {
            for try await update in synchronizer.updates(of: slow) {
                texts.append("\(update.phase): \(update.object)")
            }
        }
        try await bench.server.wait(for: "the failure") { $0.repliesCompleted == 2 }
        slow.mayParse.signal()
        await #expect(throws: SynchronizerError.self) { try await ended.value }
        #expect(texts.elements == ["stored(age: Optional(20.0)): old"])
    }

    @Test("an object in memory whose age is not known is not fresh, because the clock was set back")
    func clockSetBack() async throws {
        serve("old", etag: "\"1\"")
        _ = try await synchronizer.load(resource)
        let key = try #require(resource.objectKey(resource.identity))
        let object = try #require(synchronizer.memory.value(for: key, now: bench.clock.now))
        let later = bench.clock.now.addingTimeInterval(3_600)  // the time before the clock was set back
        synchronizer.memory.insert(object, for: key, cost: 1, expires: later.addingTimeInterval(10), now: later)
        let updates = try await all()
        #expect(updates.map(\.source) == [.memory, .cache])
        #expect(updates.map(\.phase.isLast) == [false, true])
    }
}
