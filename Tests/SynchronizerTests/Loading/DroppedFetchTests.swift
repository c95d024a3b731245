import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// With one network slot, and nothing stored.
@Suite("Fetches that are dropped while their loads wait", .bounded)
struct DroppedFetchTests {
    let fetcher = FakeFetcher(nothingStored: true, remembers: true)
    let clock = ManualClock()
    let answers = Collector<String>()

    func synchronizer(grace: TimeInterval = 0) -> Synchronizer {
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.maximumLoads = 1
        configuration.cancellationGracePeriod = grace
        configuration.time = clock
        return Synchronizer(configuration: configuration, fetcher: fetcher)
    }

    /// Asks on a thread that may block: all that can happen at once has happened when it returns.
    @discardableResult
    func ask(_ synchronizer: Synchronizer, _ path: String, _ priority: LoadPriority = .normal) throws -> LoadReceiver.ID
    {
        let resource = DataResource(url: try #require(URL(string: "http://a.example\(path)")))
        let receiver = LoadReceiver { [answers, loader = synchronizer.loader] step in
            guard case .finished(let id, let outcome) = step else { return }
            guard loader.take(id) else { return }
            let data = try? outcome.get().object(of: DataResource.self)
            answers.append(data.map { String(decoding: $0, as: UTF8.self) } ?? "an error")
        }
        let job = synchronizer.job(for: resource, identity: resource.identity, priority: priority)
        return synchronizer.enter(job, mayBlock: true, receiver: receiver)
    }

    func finish(_ path: String) throws { try #require(fetcher.take(path)).finish() }

    func isIdle(_ synchronizer: Synchronizer) -> Bool { synchronizer.loader.update { $0.machine.isIdle } }

    @Test("in its grace period a queued load without a fetch keeps waiting, and is sent if a subscriber comes back")
    func grace() throws {
        let synchronizer = synchronizer(grace: 5)
        try ask(synchronizer, "/a")
        let other = try ask(synchronizer, "/b")
        #expect(fetcher.begun == ["/a", "/b"])
        #expect(fetcher.isCancelled(1))
        synchronizer.loader.leave(other)
        clock.advance(by: 4)
        try ask(synchronizer, "/b")
        clock.advance(by: 4)
        #expect(fetcher.begun.count == 2)
        try finish("/a")
        #expect(fetcher.begun == ["/a", "/b", "/b sent"])
        try finish("/b")
        #expect(answers.elements == ["/a", "/b"])
        #expect(isIdle(synchronizer))
    }

    @Test("in its grace period a load without subscribers takes no slot, and ends after it")
    func graceEnds() throws {
        let synchronizer = synchronizer(grace: 5)
        try ask(synchronizer, "/a")
        synchronizer.loader.leave(try ask(synchronizer, "/b"))
        try finish("/a")
        #expect(fetcher.begun == ["/a", "/b"])
        #expect(!isIdle(synchronizer))
        clock.advance(by: 5)
        #expect(isIdle(synchronizer))
        #expect(fetcher.begun == ["/a", "/b"])
        #expect(answers.elements == ["/a"])
    }

    @Test(
        "a speculative load that gives its slot to a visible one looks again, waits without one, and is sent after it")
    func preemption() async throws {
        let synchronizer = synchronizer()
        try ask(synchronizer, "/speculative", .low)
        #expect(!fetcher.isCancelled(0))
        try ask(synchronizer, "/visible")
        #expect(fetcher.isCancelled(0))
        #expect(!fetcher.isCancelled(1))
        try await waitUntil("it has looked again") { fetcher.begun.count == 3 && fetcher.isCancelled(2) }
        #expect(fetcher.begun == ["/speculative", "/visible", "/speculative"])
        try finish("/visible")
        #expect(fetcher.begun.last == "/speculative sent")
        try finish("/speculative")
        #expect(answers.elements == ["/visible", "/speculative"])
        #expect(isIdle(synchronizer))
    }

    @Test("a load that is cancelled before its start is not sent")
    func cancelled() throws {
        let synchronizer = synchronizer()
        try ask(synchronizer, "/a")
        synchronizer.loader.leave(try ask(synchronizer, "/b"))
        try finish("/a")
        #expect(fetcher.begun == ["/a", "/b"])
        #expect(fetcher.isCancelled(1))
        #expect(answers.elements == ["/a"])
        #expect(isIdle(synchronizer))
    }

    @Test("a load that gets its slot and is cancelled before another thread sends its request is not sent")
    func cancelledBeforeSending() throws {
        let synchronizer = synchronizer()
        let loads = [try ask(synchronizer, "/a"), try ask(synchronizer, "/b")]
        let lookups = synchronizer.loader.lookups
        lookups.suspend()
        loads.forEach { synchronizer.loader.leave($0) }
        lookups.resume()
        lookups.sync(flags: .barrier) {}
        #expect(fetcher.begun == ["/a", "/b"])
        #expect(isIdle(synchronizer))
    }
}
