import Foundation
import HTTPCaching
import TestSupport
import Testing

@testable import Synchronizer

/// What a cache without limits would hold: the rules of `Change`, written down once more as plainly as can be.
struct CacheModel {
    struct Stored: Equatable {
        var response: StoredResponse
        var body: Data
        var storedAt: Date
        var isMemoryOnly: Bool
    }

    /// Newest first.
    private(set) var stored: [String: [Stored]] = [:]

    mutating func store(_ response: StoredResponse, _ body: Data, at time: Date, isMemoryOnly: Bool) {
        var list = stored[response.url] ?? []
        list.removeAll {
            $0.response.selectingFields == response.selectingFields && $0.response.method == response.method
        }
        list.insert(Stored(response: response, body: body, storedAt: time, isMemoryOnly: isMemoryOnly), at: 0)
        stored[response.url] = list
    }

    mutating func update(_ old: StoredResponse, to new: StoredResponse, at time: Date) {
        var list = stored[old.url] ?? []
        guard let index = list.firstIndex(where: { $0.response == old }) else { return }
        var changed = list.remove(at: index)
        (changed.response, changed.storedAt) = (new, time)
        list.removeAll { $0.response.selectingFields == new.selectingFields && $0.response.method == new.method }
        stored[old.url] = [changed] + list
    }

    mutating func remove(_ response: StoredResponse) {
        stored[response.url]?.removeAll { $0.response == response }
    }

    mutating func removeAll(of url: String) { stored[url] = nil }
    mutating func removeAll() { stored = [:] }
    mutating func removeAll(since date: Date) {
        for url in stored.keys { stored[url]?.removeAll { $0.storedAt >= date } }
    }

    /// What is left when the process has ended.
    mutating func forgetMemory() {
        for url in stored.keys { stored[url]?.removeAll { $0.isMemoryOnly } }
    }
}

/// A cache and a model that random steps are done to alike.
struct ModelRun {
    private let directory = TemporaryDirectory()
    private let clock = ManualClock()
    private var cache: SQLiteURLCache
    private var model = CacheModel()
    private var random: SeededGenerator
    private let memory: Int
    private let disk: Int
    private var stores = 0

    init(seed: UInt64, memory: Int, disk: Int) {
        random = SeededGenerator(seed: seed)
        (self.memory, self.disk) = (memory, disk)
        cache = directory.urlCache(memory: memory, disk: disk, time: clock)
    }

    mutating func run(steps: Int) throws {
        for step in 0..<steps {
            try doStep()
            if step % 997 == 0 { try checkAll() }
        }
        cache.flush()
        try checkAll()
    }

    private mutating func doStep() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: try check(url())
        case 40..<72: try store()
        case 72..<80: try updateOne()
        case 80..<86: try removeOne()
        case 86..<90:
            let url = url()
            cache.removeCachedResponse(for: try Sample.request(url))
            model.removeAll(of: url)
        case 90..<95: clock.advance(by: Double.random(in: 0..<2, using: &random))
        case 95: cache.flush()
        case 96: removeSince()
        case 97: try reopen()
        case 98 where Int.random(in: 0..<8, using: &random) == 0:
            cache.removeAllCachedResponses()
            model.removeAll()
        default: try checkURLCache()
        }
    }

    /// As precisely as the cache keeps it.
    private var now: Date { Date(milliseconds: clock.now.milliseconds) }

    private mutating func url() -> String {
        "https://example.com/\(Int.random(in: 0..<24, using: &random))"
    }

    private mutating func store() throws {
        let url = url()
        let selecting = [[], [("Accept", "a")], [("Accept", "b")]].randomElement(using: &random) ?? []
        stores += 1
        var response = Sample.stored(url, [("X-Number", "\(stores)"), ("Vary", "Accept")], selecting: selecting)
        if Int.random(in: 0..<4, using: &random) == 0 { response.injectedCacheControl = "max-age=\(stores)" }
        let sizes = [0, 1, 300, 300, 300, 4000, 20_000, 70_000]
        let body = Sample.body(sizes.randomElement(using: &random) ?? 0, seed: UInt64(stores % 50))
        let isMemoryOnly = memory > 1 << 20 && Int.random(in: 0..<10, using: &random) == 0
        let cached = try Sample.cached(url, body, policy: isMemoryOnly ? .allowedInMemoryOnly : .allowed)
        cache.store(response, cached)
        model.store(response, body, at: now, isMemoryOnly: isMemoryOnly || disk == 0)
    }

    private mutating func updateOne() throws {
        guard let entry = cache.entries(for: url()).randomElement(using: &random) else { return }
        var changed = entry.response
        stores += 1
        changed.fields["X-Number"] = "\(stores)"
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
        cache.cache.close()
        model.forgetMemory()
        cache = directory.urlCache(memory: 0, disk: disk, time: clock)  // lets go of the shared memory …
        cache = directory.urlCache(memory: memory, disk: disk, time: clock)  // … and starts with none
        try checkAll()
    }

    private func check(_ url: String) throws {
        let entries = cache.entries(for: url)
        let expected = model.stored[url] ?? []
        try #require(entries.map(\.response) == expected.map(\.response))
        for (entry, expected) in zip(entries, expected) {
            try #require(cache.body(of: entry) == expected.body)
            try #require(entry.bodySize == expected.body.count)
        }
    }

    private mutating func checkURLCache() throws {
        let url = url()
        let accept = [nil, "a", "b"].randomElement(using: &random) ?? nil
        let request = try Sample.request(url, accept.map { ["Accept": $0] } ?? [:])
        let expected = model.stored[url]?.first { $0.response.selectingFields["Accept"] == accept }
        let found = cache.cachedResponse(for: request)
        try #require(found?.data == expected?.body)
        let number = (found?.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Number")
        try #require(number == expected?.response.fields["X-Number"])
    }

    private func checkAll() throws {
        for number in 0..<24 { try check("https://example.com/\(number)") }
    }
}

@Suite("The cache against a model")
struct ModelTests {
    /// Memory that holds everything, some, nothing; with and without a disk.
    private static let kinds: [(memory: Int, disk: Int)] = [
        (64 << 20, 256 << 20), (100_000, 256 << 20), (0, 256 << 20), (64 << 20, 0),
    ]

    @Test("100,000 random steps do to the cache what they do to a dictionary", arguments: UInt64(0)..<20)
    func randomSteps(_ seed: UInt64) throws {
        let kind = Self.kinds[Int(seed) % Self.kinds.count]
        var run = ModelRun(seed: seed, memory: kind.memory, disk: kind.disk)
        try run.run(steps: 5000)
    }
}
