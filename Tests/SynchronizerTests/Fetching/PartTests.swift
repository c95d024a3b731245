import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("A part", .bounded)
struct PartTests {
    static func part(_ range: String, _ body: String, etag: String = "\"1\"") -> FakeReply {
        FakeReply(206, ["Cache-Control": "max-age=60", "ETag": etag, "Content-Range": "bytes \(range)"], body)
    }

    static func range(_ range: String) -> (inout URLRequest) -> Void {
        { $0.setValue("bytes=\(range)", forHTTPHeaderField: "Range") }
    }

    @Test("is answered by a complete entry")
    func sliced() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "0123456789"))
        harness.load()
        for (range, body, contentRange) in [
            ("2-4", "234", "bytes 2-4/10"), ("7-", "789", "bytes 7-9/10"), ("-3", "789", "bytes 7-9/10"),
            ("5-100", "56789", "bytes 5-9/10"),
        ] {
            let events = harness.load("http://a.example/x", Self.range(range))
            #expect(events.body == body && events.source == .cache)
            #expect(events.field("Content-Range") == contentRange)
            #expect(events.field("Content-Length") == String(body.utf8.count))
            #expect((events.fetched?.response.urlResponse as? HTTPURLResponse)?.statusCode == 206)
        }
        #expect(harness.transport.requests.count == 1)
    }

    @Test(
        "that is the whole answers a request without a range (RFC 9111 §3.4), unless it is coded or its size is doubtful"
    )
    func whole() {
        let range = Self.range("0-")
        let harness = FetchHarness(Self.part("0-9/10", "0123456789"))
        #expect(
            (harness.load("http://a.example/x", range).fetched?.response.urlResponse as? HTTPURLResponse)?.statusCode
                == 206)
        let events = harness.load()
        #expect(events.body == "0123456789" && events.source == .cache)
        #expect(events.field("Content-Range") == nil && events.field("Content-Length") == "10")
        let coded = ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-9/10", "Content-Encoding": "gzip"]
        let short = ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-9/10", "Content-Length": "5"]
        for (fields, body) in [(coded, "0123456789"), (short, "01234")] {
            let harness = FetchHarness(FakeReply(206, fields, body))
            harness.load("http://a.example/x", range)
            #expect(harness.store.all.map(\.status) == [206])
        }
    }

    @Test("has no digest of the content that it was cut from (RFC 9530 §2)")
    func slicedDigest() {
        let fields = [
            "Cache-Control": "max-age=60", "Content-Digest": "sha-256=:YWxs:", "Repr-Digest": "sha-256=:YWxs:",
        ]
        let harness = FetchHarness(FakeReply(200, fields, "0123456789"))
        harness.load()
        let events = harness.load("http://a.example/x", Self.range("2-4"))
        #expect(events.field("Content-Digest") == nil)
        #expect(events.field("Repr-Digest") == "sha-256=:YWxs:", "that is the digest of the whole")
    }

    @Test("is not cut from a coded body, even if the server marks the name of its coding as removable")
    func hiddenCoding() {
        let fields = [
            "Cache-Control": "max-age=60, no-cache=\"Content-Encoding\"", "Content-Encoding": "gzip", "ETag": "\"1\"",
        ]
        let harness = FetchHarness(FakeReply(200, fields, "0123456789"))
        harness.load()
        harness.load("http://a.example/x", Self.range("2-4"))
        #expect(harness.transport.requests.count == 2)
    }

    @Test("passes the policy on when its rest is requested, and when the rest does not fit")
    func policyOfCompletion() {
        let harness = FetchHarness { request in
            request.value(forHTTPHeaderField: "Range") == "bytes=4-"
                ? Self.part("4-9/10", "456789", etag: "\"2\"") : Self.part("0-3/10", "0123")
        }
        harness.load("http://a.example/x", Self.range("0-3"))
        harness.load { $0.cachePolicy = .reloadRevalidatingCacheData }
        let sent = harness.transport.requests.dropFirst()
        #expect(sent.map { $0.value(forHTTPHeaderField: "Range") } == ["bytes=4-", nil])
        #expect(sent.allSatisfy { $0.value(forHTTPHeaderField: "Cache-Control") == "max-age=0" })
    }

    @Test("is stored, and answers requests for ranges within it")
    func stored() {
        let harness = FetchHarness(Self.part("2-5/10", "2345"))
        #expect(harness.load("http://a.example/x", Self.range("2-5")).body == "2345")
        #expect(harness.load("http://a.example/x", Self.range("3-4")).body == "34")
        #expect(harness.transport.requests.count == 1)
        #expect(harness.load("http://a.example/x", Self.range("4-6")).source == .network)
    }

    @Test("is not stored if its length differs from its Content-Range")
    func lying() {
        let harness = FetchHarness(Self.part("2-5/10", "234"))
        harness.load("http://a.example/x", Self.range("2-5"))
        #expect(harness.store.all.isEmpty)
    }

    @Test("is kept from its first byte if its length differs from its Content-Range but equals its Content-Length")
    func contradictory() {
        var reply = Self.part("4-9/10", "45678")
        reply.fields["Content-Length"] = "5"
        let harness = FetchHarness(reply)
        harness.load("http://a.example/x", Self.range("-5"))
        for (range, body) in [("5-6", "56"), ("6-", "678"), ("-1", "8")] {
            #expect(harness.load("http://a.example/x", Self.range(range)).body == body)
        }
        #expect(harness.transport.requests.count == 1)
        harness.transport.serve { _ in Self.part("9-9/10", "9") }
        harness.load("http://a.example/x", Self.range("9-9"))
        #expect(harness.store.bodies == ["9"], "it is not combined with another part")
    }

    static func untagged(_ range: String, _ body: String) -> FakeReply {
        FakeReply(206, ["Cache-Control": "max-age=60", "Content-Range": "bytes \(range)"], body)
    }

    @Test("is completed by the rest if its date is a strong validator")
    func completedByDate() {
        @Sendable func part(_ range: String, _ body: String) -> FakeReply {
            var reply = Self.untagged(range, body)
            reply.fields["Last-Modified"] = HTTPDate.format(Date(timeIntervalSince1970: 1_000_000_000))
            return reply
        }
        let harness = FetchHarness(part("0-3/10", "0123"))
        harness.load("http://a.example/x", Self.range("0-3"))
        harness.transport.serve { _ in part("4-9/10", "456789") }
        let events = harness.load()
        #expect(events.body == "0123456789")
        #expect(events.names == ["needsNetwork", "resumed after 4", "received", "finished"])
        #expect(harness.transport.requests.count == 2)
    }

    @Test("without a validator is completed by the whole, where the server sends that for the rest")
    func completedByWhole() {
        let harness = FetchHarness(Self.untagged("0-3/10", "0123"))
        harness.load("http://a.example/x", Self.range("0-3"))
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60"], "0123456789") }
        let events = harness.load()
        #expect(harness.transport.requests.last?.allHTTPHeaderFields == ["Range": "bytes=4-"])
        #expect(events.body == "0123456789")
        #expect(events.names == ["needsNetwork", "response", "received", "finished"])
        #expect(harness.transport.requests.count == 2)
        #expect(harness.load().source == .cache)
        #expect(harness.store.all.map(\.status) == [200])
    }

    @Test("without a validator is not combined with the rest: the whole is requested")
    func notCombined() {
        let harness = FetchHarness(Self.untagged("0-3/10", "0123"))
        harness.load("http://a.example/x", Self.range("0-3"))
        harness.transport.serve { request in
            request.value(forHTTPHeaderField: "Range") == nil
                ? FakeReply(200, ["Cache-Control": "no-store"], "abcdefghij") : Self.untagged("4-9/10", "efghij")
        }
        let events = harness.load()
        #expect(events.body == "abcdefghij")
        #expect(events.names == ["needsNetwork", "response", "received", "finished"])
        #expect(harness.transport.requests.count == 3)
        #expect(harness.store.all.isEmpty, "the part is of no use")
        #expect(harness.load().body == "abcdefghij")
        #expect(harness.transport.requests.count == 4, "and is not asked about again")
    }

    @Test("is completed by the rest if both have the same strong validator")
    func completed() {
        let harness = FetchHarness(Self.part("0-3/10", "0123"))
        harness.load("http://a.example/x", Self.range("0-3"))
        harness.transport.serve { _ in Self.part("4-9/10", "456789") }
        let events = harness.load()
        #expect(harness.transport.requests.last?.value(forHTTPHeaderField: "Range") == "bytes=4-")
        #expect(harness.transport.requests.last?.value(forHTTPHeaderField: "If-Range") == "\"1\"")
        #expect(events.body == "0123456789")
        #expect(events.names == ["needsNetwork", "resumed after 4", "received", "finished"])
        #expect((events.fetched?.response.urlResponse as? HTTPURLResponse)?.statusCode == 200)
        #expect(events.fetched?.trace.bytesSaved == 4)
        #expect(events.fetched?.trace.bytesReceived == 6)
        #expect(harness.load().source == .cache)
        #expect(harness.store.all.map(\.status) == [200])
    }

    @Test("is given up where the rest does not fit", arguments: ["\"2\"", "W/\"1\""])
    func changed(etag: String) {
        let harness = FetchHarness(Self.part("0-3/10", "0123"))
        harness.load("http://a.example/x", Self.range("0-3"))
        harness.transport.serve { request in
            request.value(forHTTPHeaderField: "Range") == nil
                ? FakeReply(200, ["ETag": "\"2\""], "abcdefghij") : Self.part("4-9/10", "efghij", etag: etag)
        }
        #expect(harness.load().body == "abcdefghij")
        #expect(harness.transport.requests.count == 3)
    }

    @Test("grows with an adjoining part")
    func combined() {
        let harness = FetchHarness(Self.part("2-5/10", "2345"))
        harness.load("http://a.example/x", Self.range("2-5"))
        harness.transport.serve { _ in Self.part("6-7/10", "67") }
        #expect(harness.load("http://a.example/x", Self.range("6-7")).body == "67")
        #expect(harness.store.bodies == ["234567"])
        #expect(harness.load("http://a.example/x", Self.range("3-6")).body == "3456")
        #expect(harness.transport.requests.count == 2)
    }

    @Test("is requested again if the stored body is coded, because ranges count coded bytes")
    func coded() {
        let harness = FetchHarness(
            FakeReply(200, ["Cache-Control": "max-age=60", "Content-Encoding": "gzip"], "0123456789"))
        harness.load()
        harness.load("http://a.example/x", Self.range("2-4"))
        #expect(harness.transport.requests.count == 2)
    }
}
