import Foundation
import HTTPCaching
import ScriptedServer
import SynchronizerSupport
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Leases of a cache directory", .bounded)
struct LeaseTests {
    let directory = TemporaryDirectory()

    func file() -> LeaseFile { LeaseFile(directory: directory.files) }

    /// The token of a lease that is granted.
    func token(_ answer: LeaseFile.Answer) -> UInt64? {
        if case .granted(let grant) = answer { grant.token } else { nil }
    }

    func grant(_ key: UInt64 = 7, in file: LeaseFile, at now: Int64 = 1_000_000) throws -> LeaseFile.Grant {
        guard case .granted(let grant) = file.grant(key, at: now, for: 5000) else {
            throw SQLiteFailure.corruption("no lease")
        }
        return grant
    }

    // MARK: - The file

    @Test("one is granted at a time, and the tokens grow")
    func one() throws {
        let file = file()
        let first = try grant(in: file)
        #expect(file.grant(7, at: 1_000_001, for: 5000) == .held && file.look(at: 7, now: 1_000_001).isHeld)
        #expect(token(file.grant(8, at: 1_000_001, for: 5000)) == 1)
        file.release(first, at: 1_000_002)
        #expect(!file.look(at: 7, now: 1_000_003).isHeld && file.isCurrent(first))
        let second = try grant(in: file)
        #expect(second.token == first.token + 1 && !file.isCurrent(first) && file.isCurrent(second))
        file.release(first, at: 1_000_004)  // is late
        #expect(file.look(at: 7, now: 1_000_004).isHeld)
        file.abandon(second)
        #expect(!file.look(at: 7, now: 1_000_004).isHeld && file.look(at: 7, now: 1_000_004).record.expires > 0)
    }

    @Test("an expired one goes to the next, and the late holder's is not current", arguments: [5000, 3_700_000, -1])
    func expiry(passed: Int64) throws {
        let file = file()
        let first = try grant(in: file)
        if passed > 0 { #expect(file.grant(7, at: 1_004_999, for: 5000) == .held) }
        // Also if the clock was set back by more than a lease can last.
        let later = passed > 0 ? 1_000_000 + passed : 1_000_000 - 3_600_001
        #expect(try grant(in: file, at: later).token == 2)
        #expect(!file.isCurrent(first))
    }

    @Test("says whether a response may have been stored since the caller looked")
    func news() throws {
        let file = file()
        for (now, isNews) in [(1_000_000, false), (1_001_000, true), (1_012_000, false)] as [(Int64, Bool)] {
            let grant = try grant(in: file, at: now)
            #expect(grant.followsAnother == isNews)
            file.release(grant, at: now + 10)
        }
        #expect(try grant(in: LeaseFile(directory: directory.files), at: 2_000_000).followsAnother)
    }

    @Test("a key whose slot another key has gets none")
    func collision() throws {
        let file = file()
        let first = try grant(in: file)
        let other = 7 + UInt64(LeaseFile.slots)
        #expect(file.grant(other, at: 1_000_001, for: 5000) == .unavailable)
        #expect(!file.look(at: other, now: 1_000_001).isHeld)
        file.release(first, at: 1_000_002)
        #expect(try !grant(other, in: file).followsAnother)
    }

    @Test("any content of the file is valid", arguments: [0x00, 0xff, 0x5a] as [UInt8])
    func garbage(byte: UInt8) throws {
        try directory.files.prepare()
        try Data(repeating: byte, count: 4096).write(to: directory.url.appendingPathComponent("Leases"))
        let file = file()
        for key in 0..<UInt64(200) {
            let first = try grant(key, in: file)
            #expect(file.grant(key, at: 1_000_001, for: 5000) == .held)
            file.release(first, at: 1_000_002)
            #expect(file.look(at: key, now: 1_000_003).isHeld == false)
        }
    }

    @Test("a file that is truncated or removed under the process costs leases, and nothing else")
    func removal() throws {
        let file = file()
        let path = directory.url.appendingPathComponent("Leases").path
        let first = try grant(in: file)
        #expect(truncate(path, 0) == 0)
        #expect(!file.isCurrent(first) && !file.look(at: 7, now: 1_000_000).isHeld)
        try FileManager.default.removeItem(atPath: path)
        #expect(try grant(in: file, at: 1_002_000).token == 1)
        #expect(FileSystem.status(path)?.st_mode == S_IFREG | 0o600)
    }

    @Test("something else in the place of the file is not used", arguments: ["directory", "link", "fifo", "names"])
    func places(kind: String) throws {
        try directory.files.prepare()
        let path = directory.url.appendingPathComponent("Leases").path
        let other = directory.url.appendingPathComponent("other").path
        try Data().write(to: URL(fileURLWithPath: other))
        switch kind {
        case "directory": #expect(mkdir(path, 0o700) == 0)
        case "link": #expect(symlink(other, path) == 0)
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        default: #expect(link(other, path) == 0)
        }
        #expect(file().grant(7, at: 0, for: 5000) == .unavailable)
    }

    // MARK: - The cache

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
        let first = try lease(cache)
        let (old, oldBody) = try Self.response("old", at: clock.now)
        #expect(cache.store(old, oldBody, under: first) != nil)
        let entry = try #require(cache.entries(for: old.url).first)
        clock.advance(by: 6)
        let second = try lease(cache)
        let (newer, newerBody) = try Self.response("newer", at: clock.now)
        #expect(cache.store(newer, newerBody, under: second) != nil)
        if isUpdate {
            cache.update(entry, to: old, under: first)
        } else {
            #expect(cache.store(old, oldBody, under: first) == nil)
        }
        cache.flush()
        let entries = cache.entries(for: old.url)
        #expect(entries.map { $0.response.fields["X-Body"] } == ["newer"])
        cache.update(entries[0], to: old, under: second)
        cache.flush()
        #expect(cache.entries(for: old.url).map { $0.response.fields["X-Body"] } == ["old"])
    }

    @Test("a lease that passes on while its response is pending: the transaction does not write it")
    func fence() throws {
        let cache = directory.cache()
        let (response, cached) = try Self.response("late", at: Date())
        let record = StoredRecord(response)
        cache.flush()
        let asked = Locked(0)
        let fence: @Sendable () -> Bool = {
            asked.withLock { asked in
                asked += 1
                return asked == 1
            }
        }
        #expect(cache.store(record, cached: cached, keepsObject: false, fence: fence) != nil)
        cache.flush()
        #expect(asked.withLock { $0 } == 2 && cache.rows(of: response.url).isEmpty)
    }

    @Test("is released once the database has what was stored under it, and the watch of the others ends then")
    func release() async throws {
        let clock = ManualClock()
        let cache = directory.urlCache(memory: 1 << 20, time: clock)
        let lease = try lease(cache)
        let ends = Collector<LeaseEnd>()
        #expect(cache.lease("key", for: 5) == .held)
        _ = cache.waitForRelease(of: "key", atMost: 10) { ends.append($0) }
        for _ in 0..<20 { try await clock.runTimer(after: 0...0.03) }
        #expect(ends.elements.isEmpty)
        let (response, cached) = try Self.response("x", at: clock.now)
        _ = cache.store(response, cached, under: lease)
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
            let clock = ManualClock()
            let cache = directory.urlCache(time: clock)
            let lease = try lease(cache)
            let ends = Collector<LeaseEnd>()
            let cancel = cache.waitForRelease(of: "key", atMost: kind == "limit" ? 1 : 10) { ends.append($0) }
            clock.advance(by: 0.5)
            #expect(ends.elements.isEmpty)
            switch kind {
            case "dies": cache.abandon(lease)
            case "replaced":
                cache.abandon(lease)
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

    @Test("an entry that another process has stored with the same identifier gets new fields, and keeps its body file")
    func copies() throws {
        let (first, second) = (directory.cache(), directory.cache())
        let url = "https://example.com/a"
        let body = Data(repeating: 7, count: 40_000)
        for (cache, name) in [(first, "1"), (second, "2"), (first, "3")] {
            var record = StoredRecord(try Self.response(name, at: Date()).0)
            record.response.fields["X-Body"] = name
            let id: Int64 = 77
            cache.change(
                .store(
                    StoredRow(
                        id: id, url: url, urlKey: Checksum64.of(url), revision: MonotonicID.next(), stored: 1,
                        record: EncodedRecord(record), variant: record.response.variantKey, bodySize: body.count,
                        body: body)))
            cache.flush()
            let rows = directory.cache().rows(of: url) { _ in true }
            #expect(rows.map(\.id) == [id] && rows.first?.body == body)
            #expect(rows.first?.record.decoded?.response.fields["X-Body"] == name)
        }
        #expect(try directory.generation.number == 1)
    }

    @Test("without a disk there are none")
    func noDisk() {
        let cache = directory.urlCache(disk: 0)
        #expect(cache.lease("key", for: 5) == .unavailable)
    }
}
