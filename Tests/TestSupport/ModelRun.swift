import Foundation
import HTTPCaching
import Synchronizer

/// A cache that a model describes.
package protocol ModelledCache: URLCache, ResponseStore {
    func flush()
}

extension SQLiteURLCache: ModelledCache {}

/// The clock of a cache that compares its times with those of a `ModelRun`, which are whole milliseconds.
package struct WholeMilliseconds: TimeSource {
    private let clock: ManualClock

    package init(_ clock: ManualClock) { self.clock = clock }

    package var now: Date { Date(milliseconds: clock.now.milliseconds) }

    package func schedule(
        after delay: TimeInterval, _ action: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        clock.schedule(after: delay, action)
    }
}

/// A cache and a model that random steps are done to alike. Several may share a cache or a directory: each has URLs of
/// its own.
package struct ModelRun: Sendable {
    /// The cache holds, or says, something else than the model.
    package struct Mismatch: Error, CustomStringConvertible {
        package let description: String
    }

    private let directory: URL
    private let clock: ManualClock
    private(set) var cache: any ModelledCache
    private let prefix: String
    /// Whether steps may concern all URLs, and end the cache.
    private let isAlone: Bool
    var model = CacheModel()
    var random: SeededGenerator
    private let memory: Int
    let disk: Int
    private var stores = 0

    /// - Parameter cache: one that is used by others, too; nil for one of its own.
    package init(
        seed: UInt64, memory: Int, disk: Int, in directory: URL, sharing cache: (any ModelledCache)? = nil,
        clock: ManualClock = ManualClock()
    ) {
        random = SeededGenerator(seed: seed)
        (self.memory, self.disk, self.directory) = (memory, disk, directory)
        self.clock = clock
        prefix = "https://example.com/\(seed)"
        isAlone = cache == nil
        self.cache =
            cache
            ?? SQLiteURLCache(memoryCapacity: memory, diskCapacity: disk, directory: directory, time: clock)
    }

    package mutating func run(steps: Int) throws {
        for step in 0..<steps {
            try doStep()
            if step % 997 == 0 { try checkAll() }
        }
        cache.flush()
        try checkAll()
    }

    /// All entries were removed from the cache.
    package mutating func othersRemovedAll() { model.removeAll() }

    private mutating func doStep() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<34: try check(url())
        case 34..<38: keepObject()
        case 38..<40: try arrive()
        case 40..<72: try store()
        case 72..<80: try updateOne()
        case 80..<86: try removeOne()
        case 86..<90:
            let url = url()
            cache.removeCachedResponse(for: try Self.request(url))
            model.removeAll(of: url)
        case 90..<95: clock.advance(by: Double.random(in: 0..<2, using: &random))
        case 95: cache.flush()
        case 96 where isAlone: removeSince()
        case 97 where isAlone: try reopen()
        case 98 where isAlone && Int.random(in: 0..<8, using: &random) == 0:
            cache.removeAllCachedResponses()
            model.removeAll()
        default: try checkURLCache()
        }
    }

    /// As precisely as the cache keeps it.
    var now: Date { Date(milliseconds: clock.now.milliseconds) }

    mutating func url() -> String {
        "\(prefix)/\(Int.random(in: 0..<24, using: &random))"
    }

    /// A response to a URL, unlike all before.
    mutating func response(_ url: String) -> StoredResponse {
        let selecting = [[], [("Accept", "a")], [("Accept", "b")]].randomElement(using: &random) ?? []
        stores += 1
        // Some are always stale, some soon, and some never.
        let control = ["no-cache", "max-age=2", "max-age=86400"][stores % 3]
        return StoredResponse(
            url: url, method: "GET", selectingFields: HTTPFields(selecting), status: 200,
            fields: HTTPFields([
                ("X-Number", "\(stores)"), ("Vary", "Accept"), ("Cache-Control", control),
                // Without a validator, a shared cache keeps a response that is always stale only for a second, of real time.
                ("ETag", "\"\(stores)\""),
            ]),
            requestTime: now, responseTime: now)
    }

    private mutating func store() throws {
        let url = url()
        var response = response(url)
        if Int.random(in: 0..<4, using: &random) == 0 { response.injectedCacheControl = "max-age=\(stores)" }
        let sizes = [0, 1, 300, 300, 300, 4000, 20_000, 70_000]
        let body = Self.body(sizes.randomElement(using: &random) ?? 0, stores % 50)
        let isMemoryOnly = memory > 1 << 20 && Int.random(in: 0..<10, using: &random) == 0
        let cached = try Self.cached(url, body, isMemoryOnly ? .allowedInMemoryOnly : .allowed)
        cache.store(response, as: cached)
        model.store(response, body, at: now, isMemoryOnly: isMemoryOnly || disk == 0)
    }

    private mutating func updateOne() throws {
        guard let entry = cache.entries(for: url()).randomElement(using: &random) else { return }
        var changed = entry.response
        stores += 1
        changed.fields["X-Number"] = "\(stores)"
        changed.requestTime = now
        if Bool.random(using: &random) { changed.selectingFields = HTTPFields([("Accept", "a")]) }
        cache.update(entry, to: changed)
        model.update(entry.response, to: changed, at: now)
    }

    private mutating func removeOne() throws {
        guard let entry = cache.entries(for: url()).randomElement(using: &random) else { return }
        cache.remove(entry)
        model.remove(entry.response)
    }

    private mutating func removeSince() {
        let date = clock.now.addingTimeInterval(-Double.random(in: 0..<5, using: &random))
        cache.removeCachedResponses(since: date)
        model.removeAll(since: Date(milliseconds: date.milliseconds))
    }

    /// As the next process would open it.
    private mutating func reopen() throws {
        (cache as? SQLiteURLCache)?.close()
        model.forgetMemory()
        for memory in [0, memory] {  // lets go of the memory that all instances share, and starts with none
            cache = SQLiteURLCache(memoryCapacity: memory, diskCapacity: disk, directory: directory, time: clock)
        }
        try checkAll()
    }

    private func check(_ url: String) throws {
        let entries = cache.entries(for: url)
        let expected = model.stored[url] ?? []
        let (found, wanted) = (entries.map(\.response), expected.map(\.response))
        if found != wanted {
            let numbers = [found, wanted].map { responses in responses.map { $0.fields["X-Number"] ?? "?" } }
            throw Mismatch(description: "\(url): the cache has \(numbers[0]), the model \(numbers[1])")
        }
        for (entry, expected) in zip(entries, expected) {
            try Self.require(cache.body(of: entry) == expected.body, url)
            try Self.require(entry.bodySize == expected.body.count, url)
            try checkObjects(of: entry, expected)
        }
        try checkBeginning(of: url)
    }

    private mutating func checkURLCache() throws {
        let url = url()
        let accept = [nil, "a", "b"].randomElement(using: &random) ?? nil
        var request = try Self.request(url)
        request.setValue(accept, forHTTPHeaderField: "Accept")
        let expected = model.stored[url]?.first { $0.response.selectingFields["Accept"] == accept }
        let found = cache.cachedResponse(for: request)
        try Self.require(found?.data == expected?.body, url)
        let number = (found?.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Number")
        try Self.require(number == expected?.response.fields["X-Number"], url)
    }

    package func checkAll() throws {
        for number in 0..<24 { try check("\(prefix)/\(number)") }
    }

    static func require(_ isSo: Bool, _ url: String, line: Int = #line) throws(Mismatch) {
        if !isSo { throw Mismatch(description: "\(url): the cache is not what line \(line) says of the model") }
    }

    private static func request(_ url: String) throws(Mismatch) -> URLRequest {
        guard let url = URL(string: url) else { throw Mismatch(description: "\(url) is no URL") }
        return URLRequest(url: url)
    }

    static func cached(
        _ url: String, _ body: Data, _ policy: URLCache.StoragePolicy
    ) throws(Mismatch) -> CachedURLResponse {
        guard let url = URL(string: url),
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { throw Mismatch(description: "\(url) is no URL") }
        return CachedURLResponse(response: response, data: body, userInfo: nil, storagePolicy: policy)
    }

    /// Two of one number and size are the same, and no others are.
    static func body(_ size: Int, _ number: Int) -> Data {
        StorageChurn.body(seed: 7, step: number, key: number, size: max(32, size)).prefix(size)
    }
}
