import HTTPCaching
import Testing

/// RFC 9111 §3.3, §3.4; RFC 9110 §14: answers to a range, parts that are stored, completed and combined.
@Suite("Ranges")
struct RangeTable {
    static let whole = Candidate.response("Cache-Control: max-age=60\nETag: \"1\"\nLast-Modified: \(Moment.field(-9))")
    static func part(_ range: String, size: Int, etag: String = "\"1\"", more: String = "") -> Candidate {
        .response(
            "Cache-Control: max-age=60\nETag: \(etag)\nContent-Range: bytes \(range)\(more)", status: 206, size: size)
    }

    static func asked(_ id: String, _ range: String, _ stored: Candidate, _ expected: String, _ reason: String) -> Rule
    {
        Rule("range.\(id)", "3.3", .get("Range: \(range)"), [stored], at: 1, expected, reason)
    }

    static let middle = part("2-5/10", size: 4)
    static let untagged = Candidate.response(
        "Cache-Control: max-age=60\nContent-Range: bytes 0-3/10", status: 206, size: 4)
    static func dated(_ modified: Double) -> Candidate {
        .response(
            """
            Cache-Control: max-age=60
            Content-Range: bytes 0-3/10
            Date: \(Moment.field(0))
            Last-Modified: \(Moment.field(modified))
            """, status: 206, size: 4)
    }
    static let unknown = part("2-5/*", size: 4)

    static let rules = [
        asked("first-last", "bytes=2-4", whole, "reuse 0 bytes 2..<5", "within the whole"),
        asked("open", "bytes=8-", whole, "reuse 0 bytes 8..<10", "to the end"),
        asked("suffix", "bytes=-3", whole, "reuse 0 bytes 7..<10", "the last three"),
        asked("suffix-long", "bytes=-30", whole, "reuse 0 bytes 0..<10", "all there is"),
        asked("last-beyond", "bytes=5-100", whole, "reuse 0 bytes 5..<10", "as far as there is"),
        asked("beyond", "bytes=10-", whole, "forward", "for the server to refuse"),
        asked("suffix-none", "bytes=-0", whole, "forward", "for the server to refuse"),
        asked("several", "bytes=0-1,3-4", whole, "forward", "several ranges are not answered"),
        asked("unit", "lines=0-1", whole, "forward", "only bytes are understood"),
        asked("backwards", "bytes=4-2", whole, "forward", "malformed"),
        asked("overflow", "bytes=0-99999999999999999999999", whole, "forward", "malformed"),
        asked("nonsense", "bytes=a-b", whole, "forward", "malformed"),
        asked(
            "coded", "bytes=0-1", .response("Cache-Control: max-age=60\nContent-Encoding: gzip"), "forward",
            "the range counts coded bytes, and decoded ones are stored"),
        asked(
            "coded-lines", "bytes=0-1",
            .response("Cache-Control: max-age=60\nContent-Encoding: gzip\nContent-Encoding: identity"), "forward",
            "one line of several is enough"),
        asked(
            "error", "bytes=0-1", .response("Cache-Control: max-age=60", status: 404), "reuse 0",
            "a range matters to a 200 only"),
        asked("within-part", "bytes=3-4", middle, "reuse 0 bytes 1..<3", "within the part"),
        asked("all-of-part", "bytes=2-5", middle, "reuse 0 bytes 0..<4", "all of the part"),
        asked("before-part", "bytes=1-4", middle, "forward", "not wholly in the part"),
        asked("after-part", "bytes=4-6", middle, "forward", "not wholly in the part"),
        asked("open-part", "bytes=4-", middle, "forward", "the end is not in the part"),
        asked("open-last-part", "bytes=8-", part("6-9/10", size: 4), "reuse 0 bytes 2..<4", "it is in the last part"),
        asked("suffix-last-part", "bytes=-2", part("6-9/10", size: 4), "reuse 0 bytes 2..<4", "it is in the last part"),
        asked("unknown-length", "bytes=3-4", unknown, "reuse 0 bytes 1..<3", "both ends are known"),
        asked("unknown-length-open", "bytes=3-", unknown, "forward", "the end is not known"),
        asked("unknown-length-suffix", "bytes=-1", unknown, "forward", "the end is not known"),
        asked("part-lost-bytes", "bytes=3-4", part("2-5/10", size: 3), "forward", "the body is not what it says"),
        Rule("range.part-for-whole", "3.3", [middle], at: 1, "forward", "a part does not answer for the whole"),
        Rule(
            "range.head", "RFC 9110 §14.2", .request("HEAD", "Range: bytes=0-1"), [whole], at: 1, "reuse 0",
            "a range is defined for GET only"),
        Rule(
            "range.stale", "3.3", .get("Range: bytes=0-1"), [whole], at: 60,
            "validate 0 bytes 0..<2 If-None-Match",
            "validated, then cut"),
        Rule(
            "range.complete", "3.3", [part("0-3/10", size: 4)], at: 1, "complete 0 from 4 If-Range,Range",
            "the rest is asked for"),
        Rule(
            "range.complete-unknown", "3.3", [part("0-3/*", size: 4)], at: 1, "complete 0 from 4 If-Range,Range",
            "whatever that is"),
        Rule(
            "range.complete-weak", "3.4", [part("0-3/10", size: 4, etag: "W/\"1\"")], at: 1, "forward",
            "no strong validator"),
        Rule(
            "range.complete-untagged", "3.3", [untagged], at: 1, "complete 0 from 4 Range",
            "a server without ranges sends the whole"),
        Rule(
            "range.complete-date", "RFC 9110 §13.1.5", [dated(-9)], at: 61, "complete 0 from 4 If-Range,Range",
            "the date is a strong validator"),
        Rule(
            "range.complete-date-weak", "RFC 9110 §13.1.5", [dated(0)], at: 61, "forward",
            "a date of the same second is a weak one"),
        Rule("range.complete-untagged-stale", "3.3", [untagged], at: 61, "forward", "nothing says that it is still so"),
        Rule(
            "range.complete-untagged-revalidating", "3.3", .get(policy: .reloadRevalidating), [untagged], at: 1,
            "forward Cache-Control", "the server cannot confirm it"),
        Rule("range.complete-gap", "3.3", [middle], at: 1, "forward", "the beginning is missing"),
        Rule(
            "range.complete-conditional", "3.3", .get("If-None-Match: \"2\""), [part("0-3/10", size: 4)], at: 1,
            "forward", "the caller has conditions of its own"),
        Rule(
            "range.complete-only-if-cached", "5.2.1.7", .get("Cache-Control: only-if-cached"),
            [part("0-3/10", size: 4)], at: 1, "refuse", "the network must not be asked"),
        Rule(
            "range.if-range", "RFC 9110 §13.1.5", .get("Range: bytes=0-1\nIf-Range: \"1\""), [whole], at: 1,
            "reuse 0 bytes 0..<2", "it is the representation that the caller knows"),
        Rule(
            "range.if-range-other", "RFC 9110 §13.1.5", .get("Range: bytes=0-1\nIf-Range: \"2\""), [whole], at: 1,
            "reuse 0", "it is another: all of it is sent"),
        Rule(
            "range.if-range-weak", "RFC 9110 §13.1.5", .get("Range: bytes=0-1\nIf-Range: W/\"1\""),
            [.response("Cache-Control: max-age=60\nETag: W/\"1\"")], at: 1, "reuse 0", "If-Range compares strongly"),
        Rule(
            "range.if-range-date", "RFC 9110 §13.1.5", .get("Range: bytes=0-1\nIf-Range: \(Moment.field(-9))"),
            [
                .response(
                    "Cache-Control: max-age=60\nLast-Modified: \(Moment.field(-9))\nDate: \(Moment.field(0))")
            ],
            at: 1, "reuse 0 bytes 0..<2", "the same date"),
        Rule(
            "range.if-range-date-weak", "RFC 9110 §13.1.5", .get("Range: bytes=0-1\nIf-Range: \(Moment.field(0))"),
            [
                .response(
                    "Cache-Control: max-age=60\nLast-Modified: \(Moment.field(0))\nDate: \(Moment.field(0))")
            ],
            at: 1, "reuse 0", "a date of the same second does not identify the bytes"),
        Rule(
            "range.if-range-part", "RFC 9110 §13.1.5", .get("Range: bytes=3-4\nIf-Range: \"2\""), [middle], at: 1,
            "forward", "a part does not answer for the whole"),
    ]

    @Test("are answered as the table says", arguments: rules)
    func verdict(_ rule: Rule) { rule.check() }

    /// What a stored part of a representation and one that comes now make.
    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let old: Candidate
        let new: String
        var size: Int
        var etag = "\"1\""
        /// The part, `whole`, or nil if they do not combine; and which bytes of the old body come before and after.
        let result: (part: String, before: Range<Int>, after: Range<Int>)?
        var testDescription: String { "\(id) (3.4)" }
    }

    static let combinations = [
        Case(id: "combine.adjoining", old: middle, new: "6-7/10", size: 2, result: ("bytes 2-7/10", 0..<4, 4..<4)),
        Case(id: "combine.before", old: middle, new: "0-1/10", size: 2, result: ("bytes 0-5/10", 0..<0, 0..<4)),
        Case(id: "combine.overlapping", old: middle, new: "4-7/10", size: 4, result: ("bytes 2-7/10", 0..<2, 4..<4)),
        Case(
            id: "combine.overlapping-before", old: middle, new: "0-3/10", size: 4,
            result: ("bytes 0-5/10", 0..<0, 2..<4)),
        Case(id: "combine.within", old: middle, new: "3-4/10", size: 2, result: ("bytes 2-5/10", 0..<1, 3..<4)),
        Case(id: "combine.around", old: middle, new: "1-7/10", size: 7, result: ("bytes 1-7/10", 0..<0, 4..<4)),
        Case(
            id: "combine.whole", old: part("0-5/10", size: 6), new: "6-9/10", size: 4, result: ("whole", 0..<6, 6..<6)),
        Case(id: "combine.into-whole", old: whole, new: "2-4/10", size: 3, result: ("whole", 0..<2, 5..<10)),
        Case(
            id: "combine.length-told", old: part("0-5/*", size: 6), new: "6-9/10", size: 4,
            result: ("whole", 0..<6, 6..<6)),
        Case(id: "combine.length-unknown", old: unknown, new: "6-7/*", size: 2, result: ("bytes 2-7/*", 0..<4, 4..<4)),
        Case(id: "combine.gap", old: middle, new: "7-8/10", size: 2, result: nil),
        Case(id: "combine.other-tag", old: middle, new: "6-7/10", size: 2, etag: "\"2\"", result: nil),
        Case(
            id: "combine.weak", old: part("2-5/10", size: 4, etag: "W/\"1\""), new: "6-7/10", size: 2, etag: "W/\"1\"",
            result: nil),
        Case(id: "combine.other-length", old: middle, new: "6-7/11", size: 2, result: nil),
        Case(id: "combine.lost-bytes", old: middle, new: "6-7/10", size: 1, result: nil),
        Case(id: "combine.beyond", old: part("2-11/*", size: 10), new: "0-1/4", size: 2, result: nil),
        Case(
            id: "combine.coded", old: part("2-5/10", size: 4, more: "\nContent-Encoding: gzip"), new: "6-7/10", size: 2,
            result: nil),
    ]

    @Test("combine as the table says", arguments: combinations)
    func combination(_ test: Case) {
        let fields = HTTPFields(lines: "ETag: \(test.etag)\nContent-Range: bytes \(test.new)\nA: 2")
        let made = CacheRules.combination(of: test.old, with: 206, fields: fields, bodySize: test.size)
        #expect((made == nil) == (test.result == nil), "\(test.testDescription)")
        guard let made, let result = test.result else { return }
        #expect((made.part?.contentRange ?? "whole") == result.part)
        #expect(made.before == result.before && made.after == result.after)
        let size = made.before.count + test.size + made.after.count
        let response = made.response(
            from: test.old.response, with: fields, bodySize: size, requestTime: Moment.at(1), responseTime: Moment.at(2)
        )
        #expect(response.status == (made.part == nil ? 200 : 206))
        #expect(response.fields["Content-Range"] == made.part?.contentRange)
        #expect(response.fields["Content-Length"] == String(size))
        #expect(response.fields["A"] == "2", "the new fields replace the stored ones")
        #expect(made.part.map { $0.range.count == size } ?? true)
    }

    @Test("have digests of their own content, which the combined response does not get (RFC 9530 §2)")
    func digests() {
        let stored = Self.part("0-5/10", size: 6, more: "\nContent-Digest: sha-256=:b2xk:\nRepr-Digest: sha-256=:YWxs:")
        let fields = HTTPFields(
            lines: "ETag: \"1\"\nContent-Range: bytes 6-9/10\nContent-Digest: sha-256=:bmV3:\nContent-MD5: bmV3")
        let whole = CacheRules.combination(of: stored, with: 206, fields: fields, bodySize: 4)?.response(
            from: stored.response, with: fields, bodySize: 10, requestTime: Moment.at(1), responseTime: Moment.at(2))
        #expect(whole?.status == 200)
        #expect(whole?.fields["Content-Digest"] == nil && whole?.fields["Content-MD5"] == nil)
        #expect(whole?.fields["Repr-Digest"] == "sha-256=:YWxs:", "that is the digest of the whole")
    }

    @Test("combine by their dates where those are strong validators and there is no entity tag")
    func dates() {
        func combines(_ old: Candidate, _ new: String) -> Bool {
            CacheRules.combination(
                of: old, with: 206, fields: HTTPFields(lines: "Content-Range: bytes 4-9/10\n\(new)"), bodySize: 6)
                != nil
        }
        #expect(combines(Self.dated(-9), "Last-Modified: \(Moment.field(-9))"))
        #expect(!combines(Self.dated(-9), "Last-Modified: \(Moment.field(-8))"))
        #expect(!combines(Self.dated(-9), "Last-Modified: \(Moment.field(-9))\nETag: \"1\""))
        #expect(!combines(Self.dated(0), "Last-Modified: \(Moment.field(0))"))
        #expect(!combines(Self.untagged, ""))
    }

    @Test("that contradict their bodies begin where they say, are not combined, and are not stored without a length")
    func contradiction() {
        func part(_ lines: String, _ size: Int) -> StoredResponse.Part? {
            CacheRules.part(of: HTTPFields(lines: lines), bodySize: size)
        }
        #expect(part("Content-Range: bytes 4-9/10\nContent-Length: 5", 5) == .init(range: 4..<9, completeLength: 9))
        #expect(part("Content-Range: bytes 4-8/10\nContent-Length: 3", 3) == .init(range: 4..<7, completeLength: nil))
        #expect(part("Content-Range: bytes 4-9/10", 5) == nil)
        #expect(part("Content-Range: bytes 4-9/10\nContent-Length: 6", 5) == nil)
        #expect(part("Content-Range: bytes 4-9/10\nContent-Length: 0", 0) == nil)
        let old = Candidate.response(
            "ETag: \"1\"\nContent-Range: bytes 0-4/10\nContent-Length: 4", status: 206, size: 4)
        let new = HTTPFields(lines: "ETag: \"1\"\nContent-Range: bytes 4-5/10")
        #expect(CacheRules.combination(of: old, with: 206, fields: new, bodySize: 2) == nil)
        #expect(CacheRules().decision(for: .get(), among: [old], at: Moment.arrival).summary == "forward")
    }

    @Test("of a response are understood as RFC 9110 §14.4 says, or not at all")
    func contentRanges() {
        let valid = ["bytes 0-0/1", "bytes 5-9/10", "bytes 5-9/*", "Bytes 5-9/10"]
        let invalid = [
            "", "bytes", "bytes 0-0", "bytes */10", "bytes 5-4/10", "bytes 5-10/10", "bytes -1-4/10", "bytes=0-4/10",
            "bytes 0-4/x", "bytes 0-4/10 x", "bytes 0-99999999999999999999/*", "bytes 0-9223372036854775807/*",
            "bytes  0-4/10",
            "bytes 0-4/", "bytes 0-4/99999999999999999999", "seconds 0-4/10", "bytes 0-4/10, bytes 5-9/10",
        ]
        for text in valid { #expect(StoredResponse.Part(contentRange: text) != nil, "\(text)") }
        for text in invalid { #expect(StoredResponse.Part(contentRange: text) == nil, "\(text)") }
    }
}
