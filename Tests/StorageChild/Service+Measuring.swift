import Foundation
import SQLiteCache
import TestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Service {
    /// Lookups on four threads; the time that 99.9 % of them do not exceed, in microseconds.
    func slowest(milliseconds: Int, keys: Int) -> Int {
        let end = Date().addingTimeInterval(Double(milliseconds) / 1000)
        let all = Locked<[UInt64]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            var times: [UInt64] = []
            while Date() < end {
                let key = Int.random(in: 0..<keys)
                let start = DispatchTime.now().uptimeNanoseconds
                _ = find(key)
                times.append(DispatchTime.now().uptimeNanoseconds - start)
            }
            all.withLock { [times] in $0 += times }
        }
        let times = all.withLock { $0.sorted() }
        return times.isEmpty ? 0 : Int(times[times.count * 999 / 1000] / 1000)
    }

    func storeVariants(_ count: Int) -> Int {
        for number in 0..<count {
            var request = request(0)
            request.setValue("\(number)", forHTTPHeaderField: "Accept")
            let url = request.url ?? URL(fileURLWithPath: "/")
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                headerFields: ["Vary": "Accept", "Cache-Control": "max-age=60"])
            guard let response else { fail("no response") }
            cache.storeCachedResponse(CachedURLResponse(response: response, data: Data([1])), for: request)
        }
        cache.flush()
        return cache.statistics.entries
    }
}

/// The longest of many times.
final class Slowest: @unchecked Sendable {  // `longest` is touched under `lock` only
    private let lock = NSLock()
    private var longest: UInt64 = 0

    func time(_ body: () -> Void) {
        let start = DispatchTime.now().uptimeNanoseconds
        body()
        let time = DispatchTime.now().uptimeNanoseconds - start
        lock.lock()
        longest = max(longest, time)
        lock.unlock()
    }

    var milliseconds: Int {
        lock.lock()
        defer { lock.unlock() }
        return Int(longest / 1_000_000)
    }
}
