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
        cache.cache.writer.suspend()
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
            #expect((cache.store(late, as: lateBody, file: file) != nil) == event.isEmpty)
        }
        let expected = event == "stored" ? ["newer"] : event.isEmpty ? ["late"] : []
        #expect(try stored() == expected)
    }
}
