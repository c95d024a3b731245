import Foundation
import HTTPCaching
import SynchronizerSupport
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Leases of a SQLiteURLCache", .bounded)
struct LeasedStoreTests {
    let directory = TemporaryDirectory()

    func file() -> LeaseFile { LeaseFile(directory: directory.files) }

    static func response(_ body: String, at time: Date) throws -> (StoredResponse, CachedURLResponse) {
        let url = "https://example.com/a"
        let response = StoredResponse(
            url: url, method: "GET", selectingFields: HTTPFields(), status: 200,
            fields: HTTPFields([("Cache-Control", "max-age=60"), ("X-Body", body)]), requestTime: time,
            responseTime: time)
        return (response, try Sample.cached(url, Data(body.utf8)))
    }

    func lease(_ cache: SQLiteURLCache) throws -> Lease {
        guard case .granted(let lease) = cache.lease("key", for: 5) else { throw SQLiteFailure.corruption("no lease") }
        return lease
    }

    @Test("a late holder neither stores nor updates", arguments: [false, true])
    func late(isUpdate: Bool) throws {
        let clock = ManualClock()
        let cache = directory.urlCache(time: clock)
        let (old, oldBody) = try Self.response("old", at: clock.now)
        #expect(cache.store(old, as: oldBody) != nil)
        let entry = try #require(cache.entries(for: old.url).first)
        clock.advance(by: 6)
        let (newer, newerBody) = try Self.response("newer", at: clock.now)
        #expect(cache.store(newer, as: newerBody) != nil)
        if isUpdate { #expect(!cache.update(entry, to: old)) } else { #expect(cache.store(old, as: oldBody) == nil) }
        cache.flush()
        let entries = cache.entries(for: old.url)
        #expect(entries.map { $0.response.fields["X-Body"] } == ["newer"])
        clock.advance(by: 1)
        // The clock has been set back by an hour since: that time says nothing.
        let (last, _) = try Self.response("last", at: clock.now + 3600)
        #expect(cache.update(entries[0], to: last))
        #expect(cache.store(old, as: oldBody) != nil)
        cache.flush()
        #expect(cache.entries(for: old.url).map { $0.response.fields["X-Body"] } == ["old"])
    }

    /// Another process stores or removes, or does neither, while a change of this one is to be written.
    @Test(
        "the transaction refuses a change that comes too late", arguments: [false, true], ["store", "remove", "none"])
    func transaction(isUpdate: Bool, event: String) throws {
        let clock = ManualClock()
        let cache = directory.urlCache(memory: 1 << 20, time: clock)
        let other = try directory.linkedCache(time: clock)
        guard case .granted = other.lease("another", for: 5) else { throw SQLiteFailure.corruption("no lease") }
        let (first, firstBody) = try Self.response("first", at: clock.now)
        if isUpdate { #expect(cache.store(first, as: firstBody) != nil) }
        cache.flush()
        clock.advance(by: 1)
        let (late, lateBody) = try Self.response("late", at: clock.now)
        clock.advance(by: 1)
        cache.cache.writer.suspend()
        if isUpdate {
            #expect(cache.update(try #require(cache.entries(for: late.url).first), to: late))
        } else {
            #expect(cache.store(late, as: lateBody) != nil)
        }
        clock.advance(by: 1)
        let (newer, newerBody) = try Self.response("newer", at: clock.now)
        if event == "store" { #expect(other.store(newer, as: newerBody) != nil) }
        if event == "remove" { other.removeEntries(for: newer.url) }
        other.flush()
        cache.cache.writer.queue.resume()
        cache.flush()
        let expected = event == "store" ? ["newer"] : event == "remove" ? [] : ["late"]
        for cache in [cache, other] {
            #expect(cache.entries(for: late.url).map { $0.response.fields["X-Body"] } == expected)
        }
    }

    @Test("a response that was requested before a removal by another process is not stored", arguments: [true, false])
    func removal(isEverything: Bool) throws {
        let clock = ManualClock()
        let cache = directory.urlCache(memory: 1 << 20, time: clock)
        let other = try directory.linkedCache(time: clock)
        let lease = try lease(cache)
        let (early, earlyBody) = try Self.response("early", at: clock.now)
        clock.advance(by: 1)
        if isEverything { other.removeAll() } else { other.removeEntries(for: early.url) }
        other.flush()
        clock.advance(by: 1)
        let entries = cache.entries(for: early.url)
        #expect(cache.store(early, as: earlyBody) == nil && entries.isEmpty)
        cache.release(lease)
        let (later, laterBody) = try Self.response("later", at: clock.now)
        #expect(cache.store(later, as: laterBody) != nil)
        cache.flush()
        #expect(other.entries(for: early.url).map { $0.response.fields["X-Body"] } == ["later"])
    }

    @Test("is released once the database has the response stored under it, and the watch of the others ends then")
    func release() async throws {
        let clock = ManualClock()
        let cache = directory.urlCache(memory: 1 << 20, time: clock)
        let lease = try lease(cache)
        let ends = Collector<LeaseEnd>()
        #expect(cache.lease("key", for: 5) == .unavailable)
        _ = cache.waitForRelease(of: "key", atMost: 10) { ends.append($0) }
        for _ in 0..<20 { try await clock.runTimer(after: 0...0.03) }
        #expect(ends.elements.isEmpty)
        let (response, cached) = try Self.response("x", at: clock.now)
        _ = cache.store(response, as: cached)
        cache.release(lease)
        cache.flush()
        clock.advance(by: 0.03)
        #expect(ends.elements == [.released])
        clock.advance(by: 1)
        #expect(ends.elements == [.released])
    }

    @Test("a watch ends when the holder dies, expires, is replaced, or the limit passes; not after it was cancelled")
    func watches() throws {
        for kind in ["dies", "expires", "replaced", "limit", "cancelled"] {
            // The cache of a directory may outlive a flush by a moment, with its clock.
            let (directory, clock) = (TemporaryDirectory(), ManualClock())
            let cache = directory.urlCache(time: clock)
            let lease = try lease(cache)
            let ends = Collector<LeaseEnd>()
            let cancel = cache.waitForRelease(of: "key", atMost: kind == "limit" ? 1 : 10) { ends.append($0) }
            clock.advance(by: 0.5)
            #expect(ends.elements.isEmpty)
            switch kind {
            case "dies":
                cache.abandon(lease)
                cache.flush()
            case "replaced":
                cache.abandon(lease)
                cache.flush()
                _ = try self.lease(cache)
            case "cancelled": cancel()
            default: break
            }
            clock.advance(by: kind == "limit" ? 0.51 : kind == "expires" ? 4.54 : 0.03)
            #expect(ends.elements == (kind == "cancelled" ? [] : [.vacant]), "\(kind)")
            clock.advance(by: 20)
            #expect(ends.elements.count == (kind == "cancelled" ? 0 : 1), "\(kind)")
        }
    }

    // MARK: - One process

    /// The `X-Body` of each response of the URL that another process finds in the database.
    func stored() throws -> [String?] {
        directory.cache().rows(of: "https://example.com/a").map { $0.record.decoded?.response.fields["X-Body"] }
    }

    @Test("a process does not wait for its own response that is still to be written, and others do")
    func pending() throws {
        let clock = ManualClock()
        let cache = directory.urlCache(time: clock)
        let first = try lease(cache)
        cache.cache.writer.suspend()
        let (response, cached) = try Self.response("x", at: clock.now)
        #expect(cache.store(response, as: cached) != nil)
        cache.release(first)
        #expect(cache.lease("key", for: 5) == .unavailable && cache.entries(for: response.url).count == 1)
        let other = LeaseFile(directory: directory.files)
        let key = Checksum64.of("key")
        #expect(other.grant(key, at: clock.now.milliseconds, for: 5000) == .held)
        cache.cache.writer.queue.resume()
        cache.flush()
        guard case .granted(let grant) = other.grant(key, at: clock.now.milliseconds, for: 5000) else {
            Issue.record("it is still held")
            return
        }
        #expect(grant.token == first.token + 1 && grant.followsAnother)
        #expect(try stored() == ["x"])
    }

    /// A clock whose timers fire before `schedule` returns. The closure that stops a timer holds it.
    private struct HastyClock: TimeSource {
        let clock: ManualClock

        var now: Date { clock.now }

        func schedule(
            after delay: TimeInterval, _ action: @escaping @Sendable () -> Void
        ) -> @Sendable () -> Void {
            clock.advance(by: delay)
            action()
            return { withExtendedLifetime(action) {} }
        }
    }

    @Test("a watch calls the clock without a lock, and keeps no timer that is over")
    func timers() throws {
        let clock = HastyClock(clock: ManualClock())
        let file = file()
        let key: UInt64 = 7
        _ = file.grant(key, at: clock.now.milliseconds, for: 60_000)
        let ends = Collector<Bool>()
        weak var watch: LeaseWatch?
        do {
            let new = LeaseWatch(key, in: file, time: clock, limit: 1) { ends.append($0) }
            watch = new
            new.begin()
        }
        #expect(ends.elements == [false] && watch == nil)
    }

    // MARK: - Entries

    @Test("an entry that another process has stored with the same identifier gets new fields, and keeps its body file")
    func copies() throws {
        let (first, second) = (directory.cache(), directory.cache())
        var generations: Set<Generation> = []
        let url = "https://example.com/a"
        let body = Data(repeating: 7, count: 40_000)
        for (cache, name) in [(first, "1"), (second, "2"), (first, "3"), (second, "another variant")] {
            var record = StoredRecord(try Self.response(name, at: Date()).0)
            if name.count > 1 { record.response.selectingFields = HTTPFields([("Accept", "a")]) }
            record.response.fields["X-Body"] = name
            let id: Int64 = 77
            cache.change(
                .store(
                    StoredRow(
                        id: id, url: url, urlKey: Checksum64.of(url), revision: MonotonicID.next(), stored: 1,
                        record: EncodedRecord(record), variant: record.response.variantKey, bodySize: body.count,
                        body: body)))
            cache.flush()
            generations.insert(try directory.generation)
            let rows = directory.cache().rows(of: url) { _ in true }
            #expect(rows.map(\.id) == [id] && rows.first?.body == body)
            #expect(rows.first?.record.decoded?.response.fields["X-Body"] == name)
        }
        #expect(generations.count == 1)
    }

    @Test("a copy that is removed and stored again in one transaction keeps its identifier and its body file")
    func copiedAgain() throws {
        let cache = directory.cache()
        let record = StoredRecord(try Self.response("x", at: Date()).0)
        let (url, body) = (record.response.url, Data(repeating: 7, count: 40_000))
        let key = Checksum64.of(url)
        let store = Change.store(
            StoredRow(
                id: 77, url: url, urlKey: key, revision: 78, stored: 1, record: EncodedRecord(record),
                variant: record.response.variantKey, bodySize: body.count, body: body))
        cache.change(store)
        cache.flush()
        let generation = try directory.generation
        cache.writer.suspend()
        cache.change(.remove(id: 77, urlKey: key))
        cache.change(store)
        cache.writer.queue.resume()
        cache.flush()
        for cache in [cache, directory.cache()] {
            let rows = cache.rows(of: url) { _ in true }
            #expect(rows.map(\.id) == [77] && rows.first?.body == body)
        }
        #expect(try directory.generation == generation)
    }

    @Test("without a disk there are none")
    func noDisk() {
        let cache = directory.urlCache(disk: 0)
        #expect(cache.lease("key", for: 5) == .unavailable)
    }
}
