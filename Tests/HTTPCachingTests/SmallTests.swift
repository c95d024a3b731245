import HTTPCaching
import Testing

@Suite("Cache keys")
struct CacheKeyTests {
    @Test(
        "are the URI without its fragment, in one form",
        arguments: [
            ("http://a.example/x", "http://a.example/x"), ("http://a.example/x#y", "http://a.example/x"),
            ("http://a.example", "http://a.example/"), ("http://a.example?q", "http://a.example/?q"),
            ("http://a.example#f", "http://a.example/"), ("HTTP://A.Example/X?Y=Z", "http://a.example/X?Y=Z"),
            ("http://a.example:80/x", "http://a.example/x"), ("https://a.example:443/x", "https://a.example/x"),
            ("http://a.example:/x", "http://a.example/x"), ("http://a.example:443/x", "http://a.example:443/x"),
            ("http://a.example:8080/x", "http://a.example:8080/x"), ("http://[::1]:80/x", "http://[::1]/x"),
            ("http://[::1]/x", "http://[::1]/x"), ("http://U:P@A.example/x", "http://U:P@a.example/x"),
            ("http://a.example/x:80/Y?z#", "http://a.example/x:80/Y?z"), ("http://a.example/?", "http://a.example/?"),
            ("http://a.example/x/../y", "http://a.example/y"), ("http://a.example/x/./y/.", "http://a.example/x/y/"),
            ("http://a.example/../..", "http://a.example/"), ("http://a.example/x/%2E%2e/y", "http://a.example/y"),
            ("http://a.example/x/.%2e?q=/../", "http://a.example/?q=/../"),
            ("http://a.example/.x/..y/...", "http://a.example/.x/..y/..."),
            ("http://a.example//x//../y", "http://a.example//x/y"),
            ("data:,x", "data:,x"), ("", ""), ("#", ""),
        ])
    func key(url: String, key: String) {
        #expect(CacheRules.cacheKey(of: url) == key)
        #expect(CacheRules.cacheKey(of: key) == key)
    }
}

@Suite("Origins")
struct OriginTests {
    @Test(
        "are scheme, host and port, in one form",
        arguments: [
            ("https://api.example/a", "https://api.example", ""),
            ("HTTPS://API.example:443", "https://api.example", ""),
            ("https://U:P@api.example:/?q#f", "https://api.example", "U:P@"),
            ("https://api.example#u@b.example", "https://api.example", ""),
            ("http://api.example:443/", "http://api.example:443", ""), ("http://[::1]:80/x", "http://[::1]", ""),
            ("data:,x", nil, ""), ("", nil, ""),
        ] as [(String, String?, String)])
    func origin(url: String, origin: String?, userInfo: String) {
        #expect(CacheRules.origin(of: url) == origin)
        #expect(CacheRules.userInfo(of: url) == userInfo)
        #expect(CacheRules.sameOrigin(url, origin ?? url) == (origin != nil))
    }
}

@Suite("Entity tags")
struct EntityTagTests {
    @Test("compare weakly and strongly as RFC 9110 §8.8.3.2 says")
    func comparison() throws {
        for (one, other, strongly, weakly) in [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true), ("1", "1", false, true),
        ] {
            let (one, other) = (try #require(EntityTag(one)), try #require(EntityTag(other)))
            #expect(one.matchesStrongly(other) == strongly)
            #expect(one.matchesWeakly(other) == weakly)
        }
    }

    @Test("are found in lists")
    func lists() throws {
        let tag = try #require(EntityTag("\"a,b\""))
        for (list, isListed) in [
            ("\"a,b\"", true), ("\"x\", \"a,b\"", true), ("\"x\",,W/\"a,b\" ,", true), ("*", true),
            ("\"a\", b\"", false),
            ("", false), ("\"", false), ("\"x\" \"a,b\"", false),
        ] { #expect(tag.isListed(in: list) == isListed, "\(list)") }
    }

    @Test("that are malformed are none, or at least not strong", arguments: ["", "\"", "W/", "W/\"", "\"a"])
    func malformed(text: String) {
        #expect(EntityTag(text).map(\.isStrong) ?? false == false)
    }
}

@Suite("Injection")
struct InjectionTests {
    @Test("gives a lifetime to successful responses that carry none, and to no others")
    func injection() {
        for (status, lines, cacheTime, expected) in [
            (200, "A: 1", 60.9, "max-age=60"), (299, "", 60, "max-age=60"), (200, "", 0, "max-age=0"),
            (200, "", nil, nil), (200, "", -1, nil), (200, "", .nan, nil), (200, "", .infinity, "max-age=2147483647"),
            (404, "", 60, nil), (301, "", 60, nil), (200, "Cache-Control: max-age=5", 60, nil),
            (200, "cache-control: no-store", 60, nil), (200, "Cache-Control: private", 60, nil),
            (200, "Cache-Control:", 60, nil), (200, "Expires: 0", 60, nil), (200, "Pragma: no-cache", 60, "max-age=60"),
        ] as [(Int, String, Double?, String?)] {
            let value = CacheRules.injectedCacheControl(
                status: status, fields: HTTPFields(lines: lines), cacheTime: cacheTime, overriding: false)
            #expect(value == expected, "\(status) \(lines)")
        }
    }

    @Test("replaces a lifetime where that is asked for, and no prohibition")
    func overriding() {
        for (lines, expected) in [
            ("Cache-Control: max-age=5", "max-age=60"), ("Expires: 0", "max-age=60"),
            ("Cache-Control: must-revalidate, max-age=0", "max-age=60"), ("Cache-Control: no-store", nil),
            ("Cache-Control: max-age=5, no-cache", nil), ("Cache-Control: private, max-age=5", nil),
            ("Cache-Control: no-cache=\"A\"", nil),
        ] as [(String, String?)] {
            let value = CacheRules.injectedCacheControl(
                status: 200, fields: HTTPFields(lines: lines), cacheTime: 60, overriding: true)
            #expect(value == expected, "\(lines)")
        }
    }
}

@Suite("Fields")
struct HTTPFieldsTests {
    @Test("compare names without case, and keep the order of lines")
    func names() {
        var fields = HTTPFields([("A", "1"), ("b", "2"), ("a", "3")])
        #expect(fields["a"] == "1, 3" && fields["B"] == "2" && fields["c"] == nil)
        #expect(fields.values(of: "A") == ["1", "3"])
        #expect(!HTTPFields.same("[", "{") && !HTTPFields.same("a", "aa") && HTTPFields.same("É", "É"))
        fields["a"] = "4"
        #expect(fields.lines.map(\.name) == ["b", "a"])
        fields.replace(with: HTTPFields([("B", "5"), ("C", "6"), ("C", "7")]))
        #expect(fields.lines.map(\.value) == ["4", "5", "6", "7"])
        fields["A"] = nil
        #expect(!fields.contains("a"))
    }
}

@Suite("Answers out of the store")
struct AnswerTests {
    static func head(_ lines: String, _ request: CacheRequest = .get(), at moment: Double) -> (
        status: Int, fields: HTTPFields
    )? {
        let stored = Candidate.response(lines, injected: lines.contains("injected") ? "max-age=600" : nil)
        guard case .reuse(let selection) = CacheRules().decision(for: request, among: [stored], at: Moment.at(moment))
        else { return nil }
        return selection.head(of: stored.response)
    }

    @Test("have the current age, whatever Age was stored (4, 5.1)")
    func age() {
        #expect(Self.head("Cache-Control: max-age=600", at: 12.7)?.fields["Age"] == "12")
        #expect(Self.head("Cache-Control: max-age=600\nAge: 30\nAge: 5", at: 12)?.fields.values(of: "Age") == ["42"])
    }

    @Test("have the server's fields: not what was injected, and Date and Expires as they were")
    func fields() {
        let head = Self.head("Cache-Control: max-age=600\nX: injected\nDate: \(Moment.field(0))\nExpires: 0", at: 5)
        #expect(head?.fields["Cache-Control"] == nil)
        #expect(head?.fields["Date"] == Moment.field(0) && head?.fields["Expires"] == "0")
    }

    @Test("say which part they are (3.3)")
    func part() {
        let head = Self.head("Cache-Control: max-age=600\nContent-Length: 10", .get("Range: bytes=-3"), at: 5)
        #expect(head?.status == 206)
        #expect(head?.fields["Content-Range"] == "bytes 7-9/10" && head?.fields["Content-Length"] == "3")
    }

    @Test("to a caller's own validator are a 304 without what describes a body (4.3.2)")
    func notModified() {
        let head = Self.head(
            "Cache-Control: max-age=600\nETag: \"1\"\nContent-Length: 10", .get("If-None-Match: \"1\""), at: 5)
        #expect(head?.status == 304)
        #expect(head?.fields["ETag"] == "\"1\"" && head?.fields["Content-Length"] == nil)
    }

    @Test("are explained in a clause")
    func explanations() {
        let stored = Candidate.response("Cache-Control: max-age=60\nETag: \"1\"")
        let cases: [(CacheRequest, Double, String)] = [
            (.get(), 12, "fresh: age 12 s of 60 s (max-age)"), (.get(), 70, "stale: age 70 s of 60 s (max-age)"),
            (
                .get("Cache-Control: max-stale"), 70,
                "stale: age 70 s of 60 s (max-age), allowed by max-stale"
            ),
            (
                .get("Cache-Control: no-cache"), 12,
                "must be validated: the request says no-cache, age 12 s of 60 s (max-age)"
            ),
        ]
        for (request, moment, clause) in cases {
            switch CacheRules().decision(for: request, among: [stored], at: Moment.at(moment)) {
            case .reuse(let selection), .validate(let selection, _):
                #expect(selection.explanation.description == clause)
            default: Issue.record("\(clause)")
            }
        }
    }
}
