import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Records", .bounded)
struct RecordTests {
    private let directory = TemporaryDirectory()
    private let url = "https://example.com/1"

    private func response(maxAge: Int) -> StoredResponse {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        return StoredResponse(
            url: url, method: "GET", selectingFields: HTTPFields(), status: 200,
            fields: HTTPFields([("Cache-Control", "max-age=\(maxAge)")]), requestTime: now, responseTime: now)
    }

    @Test("a stored response is judged by the facts in its record, not by its fields")
    func facts() throws {
        var stored = response(maxAge: 60)
        let facts = response(maxAge: 600).facts
        stored.decide(by: facts)
        let decoded = try #require(EncodedRecord(StoredRecord(stored)).decoded?.response)
        #expect(decoded.fields == stored.fields && decoded.facts == facts)
        #expect(CacheRules().freshness(of: decoded, at: stored.responseTime).lifetime == 600)
    }

    /// Times are compared: a response that was requested at the moment of a removal is not older than the removal.
    @Test("times keep all their bits")
    func exactTimes() throws {
        for bits in 0..<4 as Range<UInt64> {
            let now = Date(timeIntervalSinceReferenceDate: Double(bitPattern: (8e8).bitPattern + bits))
            var stored = response(maxAge: 60)
            stored.requestTime = now
            let record = EncodedRecord(StoredRecord(stored))
            #expect(record.decoded?.response == stored && record.requestTime == now, "\(bits)")
        }
    }

    @Test("an injected lifetime stays one")
    func injected() throws {
        var stored = response(maxAge: 60)
        stored.injectedCacheControl = "max-age=60"
        let decoded = try #require(EncodedRecord(StoredRecord(stored)).decoded?.response)
        #expect(decoded == stored)
        #expect(CacheRules().freshness(of: decoded, at: stored.responseTime).rule == .injected)
    }

    @Test("values of one name are joined, in whatever case each line spells the name", arguments: [1, 40])
    func joined(lines: Int) throws {
        var stored = response(maxAge: 60)
        let spelled = [("Vary", "a"), ("X-A", "1"), ("vary", "b"), ("X-B", "2"), ("VARY", "c")]
        stored.fields = HTTPFields(spelled + (0..<lines).map { ("X-Many", "\($0)") })
        let head = try #require(EncodedRecord(StoredRecord(stored)).statusAndFields)
        let many = (0..<lines).map(String.init).joined(separator: ", ")
        #expect(head.fields == ["Vary": "a, b, c", "X-A": "1", "X-B": "2", "X-Many": many])
        stored.fields = HTTPFields([("Vary", "a"), ("X-A", "1"), ("Vary", "b")])
        #expect(EncodedRecord(StoredRecord(stored)).statusAndFields?.fields == ["Vary": "a, b", "X-A": "1"])
    }

    @Test("a bit of the facts that flips is corruption", arguments: 0..<StoredFacts.encodedSize)
    func corruptFacts(_ offset: Int) throws {
        let cache = directory.cache()
        let stored = response(maxAge: 60)
        cache.store(StoredRecord(stored), cached: try Sample.cached(url, Data("body".utf8)), keepsObject: false)
        cache.flush()
        var bytes = try #require(cache.rows(of: url).first).record.bytes
        let start = try #require(Data(bytes).range(of: Data(stored.facts.encoded))).lowerBound
        bytes[start + offset] ^= 0x10
        let record = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try directory.database().execute("UPDATE entries SET record = x'\(record)'")
        let other = directory.cache()
        #expect(other.rows(of: url).isEmpty)
        #expect(other.state.withLock { $0.corrupt.count } == 1)
    }
}
