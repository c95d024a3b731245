import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import Testing

@testable import SQLiteCache

extension LeasedStoreTests {
    @Test("removing and giving a lease back write no file on the thread of the caller")
    func background() throws {
        let clock = ManualClock()
        let cache = directory.urlCache(time: clock)
        let lease = try lease(cache)
        let (url, key) = ("https://example.com/a", Checksum64.of("key"))
        let isRemoved = { self.file().isRemoved(Checksum64.of(url), since: clock.now, now: clock.now) }
        cache.cache.writer.queue.suspend()
        cache.removeEntries(for: url)
        cache.abandon(lease)
        #expect(!isRemoved() && file().grant(key, at: clock.now.milliseconds, for: 5000) == .held)
        cache.cache.writer.queue.resume()
        cache.flush()
        #expect(isRemoved() && file().grant(key, at: clock.now.milliseconds, for: 5000) != .held)
    }

    @Test(
        "a body in a file that comes too late is not stored", arguments: ["stored", "removed", "removed at last", ""])
    func lateFile(event: String) throws {
        let clock = ManualClock()
        let cache = directory.urlCache(time: clock)
        let other = try directory.linkedCache(time: clock)
        guard case .granted = other.lease("another", for: 5) else { throw SQLiteFailure.corruption("no lease") }
        let (late, lateBody) = try Self.response("late", at: clock.now)
        let partial = try #require(cache.makePartial(for: late.url, resumable: nil, length: 20_000))
        try Data(count: 20_000).withUnsafeBytes { try partial.append($0) }
        let file = try partial.finish()
        clock.advance(by: 1)
        let (newer, newerBody) = try Self.response("newer", at: clock.now)
        if event == "stored" { #expect(other.store(newer, as: newerBody) != nil) }
        if event == "removed" { other.removeEntries(for: late.url) }
        other.flush()
        let fence = cache.cache.fence(for: late)
        #expect((fence == nil) == ["stored", "removed"].contains(event))
        if event == "removed at last" {
            other.removeEntries(for: late.url)
            other.flush()
            #expect(!cache.cache.store(StoredRecord(late, with: lateBody), file: file, fence: fence))
        } else {
            #expect(cache.store(late, as: lateBody, file: file) == event.isEmpty)
        }
        let expected = event == "stored" ? ["newer"] : event.isEmpty ? ["late"] : []
        #expect(try stored() == expected)
    }

    /// The clock was set back by an hour after the request, so that the times of the requests say the opposite.
    @Test("a holder whose lease went to another process stores nothing, whatever the clock says", arguments: [0, 6])
    func overtaken(seconds: Double) throws {
        let clock = ManualClock()
        let cache = directory.urlCache(memory: 1 << 20, time: clock)
        let other = try directory.linkedCache(time: clock)
        let (late, lateBody) = try Self.response("late", at: clock.now + 3600)
        let key = late.url + "\nBearer"
        guard case .granted(let lease) = cache.lease(key, for: 5) else { throw SQLiteFailure.corruption("no lease") }
        clock.advance(by: seconds)
        let isOvertaken = seconds > 5
        guard case .granted(let next) = other.lease(key, for: 5) else {
            #expect(!isOvertaken)
            #expect(cache.store(late, as: lateBody) != nil)
            return
        }
        #expect(isOvertaken && next.token > lease.token)
        let (newer, newerBody) = try Self.response("newer", at: clock.now)
        #expect(other.store(newer, as: newerBody) != nil)
        other.release(next)
        other.flush()
        #expect(cache.store(late, as: lateBody) == nil)
        #expect(!cache.update(try #require(cache.entries(for: late.url).first), to: late))
        let another = try Sample.cached("https://example.com/b", Data("b".utf8))
        #expect(cache.store(Sample.stored("https://example.com/b"), as: another) != nil)
        cache.release(lease)
        cache.flush()
        for cache in [cache, other] {
            #expect(cache.entries(for: late.url).map { $0.response.fields["X-Body"] } == ["newer"])
        }
        // Without a lease, the times decide again.
        #expect(cache.store(late, as: lateBody) != nil)
    }

    @Test("the transaction refuses a response whose lease has gone to another process in the meantime")
    func overtakenWhileWriting() throws {
        let clock = ManualClock()
        let cache = directory.urlCache(memory: 1 << 20, time: clock)
        let other = try directory.linkedCache(time: clock)
        let (late, lateBody) = try Self.response("late", at: clock.now + 3600)
        let key = late.url + "\n"
        guard case .granted = cache.lease(key, for: 5) else { throw SQLiteFailure.corruption("no lease") }
        cache.cache.writer.queue.suspend()
        #expect(cache.store(late, as: lateBody) != nil)
        clock.advance(by: 6)
        guard case .granted = other.lease(key, for: 5) else { throw SQLiteFailure.corruption("no lease") }
        let (newer, newerBody) = try Self.response("newer", at: clock.now)
        #expect(other.store(newer, as: newerBody) != nil)
        other.flush()
        cache.cache.writer.queue.resume()
        cache.flush()
        #expect(other.entries(for: late.url).map { $0.response.fields["X-Body"] } == ["newer"])
        #expect(try stored() == ["newer"])
    }
}
