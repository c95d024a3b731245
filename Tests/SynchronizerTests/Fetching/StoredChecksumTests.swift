import Foundation
import HTTPCaching
import Synchronizer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@Suite("The checksum of a stored body", .bounded)
struct StoredChecksumTests {
    let directory = DisposableDirectory("checksum")
    let transport = FakeTransport()

    @Test(
        "comes from the store with the whole body, and not with a part or without a body",
        arguments: [0, 100, 40_000])
    func checksum(size: Int) throws {
        let body = String(repeating: "x", count: size)
        transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], body) }
        let cache = SQLiteURLCache(memoryCapacity: 0, diskCapacity: 10 << 20, directory: directory.url)
        let fetcher = ManagedFetcher(transport: transport, store: cache, time: ManualClock())
        let fetch = { (change: (inout URLRequest) -> Void) -> Fetched? in
            guard let url = URL(string: "http://a.example/x") else { return nil }
            var request = URLRequest(url: url)
            change(&request)
            let events = Events()
            events.fetch = fetcher.fetch(request, options: FetchOptions(maximumBodySize: 1 << 20)) { events.note($0) }
            events.fetch?.proceed()
            return events.fetched
        }
        #expect(fetch { _ in }?.storedChecksum == nil, "it comes from the network")
        cache.flush()
        let whole = try #require(fetch { _ in })
        #expect(whole.trace.source == .cache && whole.body == Data(body.utf8))
        #expect(whole.storedChecksum == Data(body.utf8).withUnsafeBytes { Checksum64.of($0) })
        guard size > 0 else { return }
        let part = try #require(fetch { $0.setValue("bytes=0-9", forHTTPHeaderField: "Range") })
        #expect(part.trace.source == .cache && part.body.count == 10 && part.storedChecksum == nil)
        let head = try #require(fetch { $0.httpMethod = "HEAD" })
        #expect(head.trace.source == .cache && head.body.isEmpty && head.storedChecksum == nil)
    }
}
