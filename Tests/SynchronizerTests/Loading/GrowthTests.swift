import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A load that lasts long", .bounded)
struct GrowthTests {
    @Test("does not remember the watchers that have left")
    func watchers() throws {
        let fetcher = FakeFetcher(nothingStored: true)
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.time = ManualClock()
        let synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher)
        let resource = DataResource(url: try #require(URL(string: "http://a.example/a")))
        func watch() -> LoadReceiver.ID {
            let job = synchronizer.job(for: resource, identity: resource.identity, priority: .normal)
            return synchronizer.enter(job, mayBlock: true, receiver: LoadReceiver(.progress) { _ in })
        }
        let staying = (0..<3).map { _ in watch() }
        for _ in 0..<1_000 { synchronizer.loader.leave(watch()) }
        let watchers = synchronizer.loader.state.withLock { state in
            state.downloads.ids.flatMap { state.downloads[$0]?.watchers ?? [] }
        }
        #expect(watchers.starts(with: staying) && watchers.count <= 4)
        #expect(fetcher.started == 1)
        staying.forEach { synchronizer.loader.leave($0) }
    }

    @Test("does not keep the deadlines of later loads that are over")
    func deadlines() {
        var deadlines = Deadlines(limit: 100)
        let now = Date(timeIntervalSince1970: 0)
        for number in 0..<10_000 {
            _ = deadlines.begin(RecordID(index: UInt32(number), number: 1), at: now + Double(number) / 1_000)
            deadlines.forget(besides: 1) { $0.index != 0 }
        }
        #expect(deadlines.waiting.count < 200)
        #expect(deadlines.due(at: now + 100).map(\.index).first == 0)
    }
}
