import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Loads that begin to wait just after the network was switched off", .bounded)
struct OfflineWaitTests {
    enum Wait: CaseIterable {
        case retry, lease
    }

    @Test("look again at once, because only the cache can answer them", arguments: Wait.allCases)
    func waits(_ wait: Wait) throws {
        let (fetcher, network) = (FakeFetcher(nothingStored: true, remembers: true), NetworkSwitch())
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.time = ManualClock()
        let synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher, network: network)
        let url = try #require(URL(string: "http://a.example/a"))
        let resource = DataResource(url: url)
        let job = synchronizer.job(for: resource, identity: resource.identity, priority: .normal)
        // On a thread that may block, the request has been sent when the call returns.
        let id = synchronizer.enter(job, mayBlock: true, receiver: LoadReceiver { _ in })
        let fetch = try #require(fetcher.take("/a"))
        network.set(isOffline: true)  // this fetcher does not notice
        switch wait {
        case .retry:
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 503, httpVersion: nil, headerFields: nil))
            fetch.report(.finished(.failure(.status(response, .init(url: url, trace: LoadTrace())))))
        case .lease: fetch.report(.waitsForLease)
        }
        synchronizer.loader.lookups.sync(flags: .barrier) {}
        #expect(fetcher.begun == ["/a", "/a"])
        synchronizer.loader.leave(id)
    }
}
