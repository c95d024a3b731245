import HTTPCaching
import Testing

/// RFC 9111 §3.2, §4.3.4, §4.3.5: how newer messages change stored responses.
@Suite("Freshening")
struct FresheningTable {
    /// What a 304 means when the first of the stored responses was asked about.
    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let stored: [String]
        let received: String
        let updated: [Int]?
        let reason: String
        var testDescription: String { "\(id) (4.3.4): \(reason)" }
    }

    static let modified = "Last-Modified: \(Moment.field(-9))\nDate: \(Moment.field(0))"

    static let outcomes = [
        Case(id: "304.strong", stored: ["ETag: \"1\""], received: "ETag: \"1\"", updated: [0], reason: "the same"),
        Case(
            id: "304.strong-all", stored: ["ETag: \"1\"", "ETag: \"2\"", "ETag: \"1\""], received: "ETag: \"1\"",
            updated: [0, 2], reason: "all that have the strong validator"),
        Case(
            id: "304.strong-other", stored: ["ETag: \"1\""], received: "ETag: \"2\"", updated: nil,
            reason: "no stored response has it: none is updated"),
        Case(
            id: "304.weak", stored: ["ETag: W/\"1\"", "ETag: W/\"1\""], received: "ETag: W/\"1\"", updated: [0],
            reason: "a weak validator identifies one"),
        Case(
            id: "304.weak-other", stored: ["ETag: W/\"1\""], received: "ETag: W/\"2\"", updated: nil,
            reason: "no stored response has it"),
        Case(
            id: "304.none", stored: ["ETag: \"1\"", "ETag: \"1\""], received: "A: 1", updated: [0],
            reason: "without a validator it can only be about the one that was asked about"),
        Case(
            id: "304.strong-for-weak", stored: ["ETag: W/\"1\""], received: "ETag: \"1\"", updated: [],
            reason: "confirmed, but no stored response has the strong validator"),
        Case(
            id: "304.strong-for-weak-date", stored: ["ETag: W/\"1\"\n\(modified)"],
            received: "ETag: \"1\"\n\(modified)",
            updated: [0], reason: "the date is a strong validator, too"),
        Case(
            id: "304.date", stored: [modified, modified, "A: 1"], received: "ETag: \"1\"\n\(modified)",
            updated: [0, 1], reason: "the date is a strong validator"),
        Case(
            id: "304.date-weak", stored: ["Last-Modified: \(Moment.field(0))\nDate: \(Moment.field(0))"],
            received: "ETag: \"1\"\nLast-Modified: \(Moment.field(0))", updated: [],
            reason: "a date of the same second is a weak one"),
        Case(
            id: "304.tag-for-date", stored: [modified], received: "ETag: \"1\"", updated: [],
            reason: "confirmed, but no stored response has the strong validator"),
        Case(
            id: "304.weak-tag-for-date", stored: [modified], received: "ETag: W/\"1\"", updated: [],
            reason: "confirmed, but the weak validator is no stored response's"),
        Case(
            id: "304.date-other", stored: [modified], received: "Last-Modified: \(Moment.field(-5))", updated: [],
            reason: "confirmed, but the date is no stored response's"),
    ]

    @Test("a 304 updates what the table says", arguments: outcomes)
    func outcome(_ test: Case) {
        let stored = test.stored.map { Candidate.response($0) }
        let outcome = CacheRules.confirmation(
            by: HTTPFields(lines: test.received), asked: 0, among: stored, for: .get())
        #expect(outcome == test.updated.map { .update($0) } ?? .mismatch, "\(test.testDescription)")
    }

    @Test("a 304 to a caller's own validator updates what it names, the most recent by a weak one")
    func named() {
        let stored: [Candidate] = [
            .response("ETag: \"1\""), .response("ETag: W/\"2\""), .response("ETag: W/\"2\"", arrived: 5),
            .response("Last-Modified: \(Moment.field(-9))"), .response("ETag: \"1\""),
            .response("ETag: \"1\"\nVary: A", asked: .get("A: 1")),
        ]
        for (received, expected) in [
            ("ETag: \"1\"", [0, 4]), ("ETag: W/\"2\"", [2]), ("ETag: \"3\"", []),
            ("Last-Modified: \(Moment.field(-9))", [3]), ("A: 1", []),
        ] {
            let named = CacheRules.candidates(confirmedBy: HTTPFields(lines: received), among: stored, for: .get())
            #expect(named == expected, "\(received)")
        }
    }

    @Test("a 304 is about no stored response with another status than 200 and 206 (RFC 9110 §15.4.5)")
    func otherStatuses() {
        let stored: [Candidate] = [
            .response("ETag: \"1\""), .response("ETag: \"1\"", status: 404), .response("ETag: \"1\"", status: 301),
            .response("ETag: \"1\"\nContent-Range: bytes 0-9/20", status: 206),
        ]
        let fields = HTTPFields(lines: "ETag: \"1\"")
        #expect(CacheRules.confirmation(by: fields, asked: 0, among: stored, for: .get()) == .update([0, 3]))
        #expect(CacheRules.candidates(confirmedBy: fields, among: stored, for: .get()) == [0, 3])
    }

    static func freshened(_ stored: String, by newer: String, injected: String? = nil) -> StoredResponse {
        CacheRules.freshened(
            Candidate.response(stored, injected: injected).response, by: HTTPFields(lines: newer),
            requestTime: Moment.at(100), responseTime: Moment.at(101))
    }

    @Test("each new field replaces the stored one, and the others stay (3.2)")
    func fields() {
        let freshened = Self.freshened("A: 1\nA: 2\nB: 1\nSet-Cookie: a=b", by: "a: 3\nC: 4\nSet-Cookie: a=c")
        #expect(freshened.fields.values(of: "A") == ["3"])
        #expect(freshened.fields["B"] == "1" && freshened.fields["C"] == "4" && freshened.fields["Set-Cookie"] == "a=c")
        #expect(freshened.requestTime == Moment.at(100) && freshened.responseTime == Moment.at(101))
    }

    @Test("fields that describe the stored body stay, and fields that are not stored are not taken over (3.1, 3.2)")
    func exceptions() {
        let stored = "Content-Length: 10\nContent-Encoding: gzip\nContent-Range: bytes 0-9/20\nContent-Type: a/b"
        let newer = """
            Content-Length: 0
            Content-Encoding: br
            Content-Range: x
            Content-Type: c/d
            Connection: close, X
            X: 1
            Keep-Alive: 1
            Transfer-Encoding: chunked
            Proxy-Authenticate: Basic
            Cache-Control: no-cache="Y"
            Y: 1
            """
        let fields = Self.freshened(stored, by: newer).fields
        #expect(fields["Content-Length"] == "10" && fields["Content-Encoding"] == "gzip")
        #expect(fields["Content-Range"] == "bytes 0-9/20" && fields["Content-Type"] == "c/d")
        for name in ["Connection", "X", "Keep-Alive", "Transfer-Encoding", "Proxy-Authenticate", "Y"] {
            #expect(fields[name] == nil, "\(name)")
        }
    }

    @Test("fields that the newer Cache-Control names in no-cache are removed, whenever they came (5.2.2.4)")
    func namedLater() {
        let stored = "Cache-Control: max-age=60\nSet-Cookie: a=b\nVary: A\nX: 1"
        let newer = "Cache-Control: max-age=60, no-cache=\"set-cookie, Vary\""
        let fields = Self.freshened(stored, by: newer).fields
        #expect(fields["Set-Cookie"] == nil && fields["Vary"] == "A" && fields["X"] == "1")
        let named = Self.freshened("Cache-Control: max-age=60, no-cache=\"X\"", by: "X: 2").fields
        #expect(named["X"] == nil, "the stored Cache-Control still applies")
    }

    @Test("the age begins anew, with or without a Date (4.2.3)")
    func age() {
        let stored = "Cache-Control: max-age=60\nAge: 50\nDate: \(Moment.field(-50))"
        for newer in ["", "Date: \(Moment.field(101))"] {
            let freshness = CacheRules().freshness(of: Self.freshened(stored, by: newer), at: Moment.at(102))
            #expect(freshness.age == 2)
        }
    }

    @Test("an injected lifetime is not the server's, and goes")
    func injected() {
        let freshened = Self.freshened("Cache-Control: max-age=60\nA: 1", by: "A: 2", injected: "max-age=60")
        #expect(freshened.fields["Cache-Control"] == nil && freshened.injectedCacheControl == nil)
        let other = Self.freshened("Cache-Control: max-age=60", by: "Cache-Control: no-cache", injected: "max-age=60")
        #expect(other.fields["Cache-Control"] == "no-cache")
    }

    @Test("a 200 to a HEAD updates what matches it, makes invalid what does not, and leaves other variants (4.3.5)")
    func head() {
        let stored = Candidate.response("ETag: \"1\"\nLast-Modified: \(Moment.field(-9))\nContent-Length: 10")
        let untagged = Candidate.response("Content-Length: 10")
        let variant = Candidate.response("ETag: \"1\"\nVary: A", asked: .get("A: 1"))
        func part(_ range: String) -> Candidate {
            .response("ETag: \"1\"\nContent-Length: 10\nContent-Range: bytes \(range)", status: 206)
        }
        let cases: [(Candidate, String, Bool?)] = [
            (stored, "ETag: \"1\"", true), (stored, "ETag: \"2\"", false), (stored, "A: 1", true),
            (stored, "Content-Length: 10", true), (stored, "Content-Length: 11", false),
            (stored, "Last-Modified: \(Moment.field(-8))", false), (stored, "Last-Modified: \(Moment.field(-9))", true),
            (stored, "ETag: \"1\"\nLast-Modified: \(Moment.field(-8))", false), (untagged, "ETag: \"1\"", false),
            (variant, "ETag: \"1\"", nil),
            (.response("Content-Length: 10", status: 404), "Content-Length: 10", false),
            (.response("Location: /y", status: 301), "A: 1", false),
            (part("0-9/20"), "Content-Length: 20", true), (part("0-9/20"), "Content-Length: 10", false),
            (part("0-9/*"), "Content-Length: 20", true),
        ]
        for (candidate, received, expected) in cases {
            let updates = CacheRules.headUpdates(
                candidate, by: HTTPFields(lines: received), for: .request("HEAD"))
            #expect(updates == expected, "\(received)")
        }
    }
}
