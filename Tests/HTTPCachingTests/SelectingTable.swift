import HTTPCaching
import Testing

/// RFC 9111 §4.1: which of the stored responses is for a request with such fields.
@Suite("Selecting by Vary")
struct SelectingTable {
    static func stored(_ vary: String, asked: String, arrived: Double = 0) -> Candidate {
        .response("Cache-Control: max-age=600\nVary: \(vary)", arrived: arrived, asked: .get(asked))
    }

    static func one(
        _ id: String, vary: String, asked: String, presented: String, _ isMatch: Bool, _ reason: String
    ) -> Rule {
        Rule(
            id, "4.1", .get(presented), [stored(vary, asked: asked)], at: 1, isMatch ? "reuse 0" : "forward", reason)
    }

    static let single = [
        one("vary.same", vary: "A", asked: "A: 1", presented: "A: 1", true, "the selecting fields are the same"),
        one("vary.other", vary: "A", asked: "A: 1", presented: "A: 2", false, "the selecting field differs"),
        one("vary.name-case", vary: "a", asked: "A: 1", presented: "a: 1", true, "names compare without case"),
        one("vary.absent-now", vary: "A", asked: "A: 1", presented: "", false, "absent matches absent only"),
        one("vary.absent-then", vary: "A", asked: "", presented: "A: 1", false, "absent matches absent only"),
        one("vary.absent-both", vary: "A", asked: "", presented: "", true, "absent matches absent"),
        one("vary.empty-is-not-absent", vary: "A", asked: "A:", presented: "", false, "an empty value is a value"),
        one("vary.all", vary: "A, B", asked: "A: 1\nB: 2", presented: "B: 2\nA: 1", true, "all selecting fields match"),
        one("vary.not-all", vary: "A, B", asked: "A: 1\nB: 2", presented: "A: 1\nB: 3", false, "one of them differs"),
        one("vary.others-ignored", vary: "A", asked: "A: 1\nB: 2", presented: "A: 1\nB: 3", true, "B is not nominated"),
        one("vary.star", vary: "*", asked: "A: 1", presented: "A: 1", false, "* never matches"),
        one("vary.star-member", vary: "A, *", asked: "A: 1", presented: "A: 1", false, "a member * never matches"),
        one("vary.star-first", vary: ", *, A", asked: "", presented: "", false, "a member * never matches"),
        one(
            "vary.malformed", vary: "Accept-Language; Cookie", asked: "Accept-Language: en",
            presented: "Accept-Language: en", false, "the fields that it means are unknown"),
        one("vary.malformed-member", vary: "A, \"B\"", asked: "A: 1", presented: "A: 1", false, "one member suffices"),
        one("vary.space", vary: "A", asked: "A: 1, 2", presented: "A: 1 ,  2", true, "white space means nothing"),
        one("vary.lines", vary: "A", asked: "A: 1, 2", presented: "A: 1\nA: 2", true, "lines are combined"),
        one("vary.order", vary: "A", asked: "A: 1, 2", presented: "A: 2, 1", false, "the order may mean something"),
        one("vary.case", vary: "A", asked: "A: x", presented: "A: X", false, "case may mean something"),
        one(
            "vary.language-order", vary: "Accept-Language", asked: "Accept-Language: en, de",
            presented: "Accept-Language: de, en", true, "the order of languages means nothing"),
        one(
            "vary.language-case", vary: "Accept-Language", asked: "Accept-Language: en, de",
            presented: "Accept-Language: eN, De", true, "the case of languages means nothing"),
        one(
            "vary.language-weight", vary: "Accept-Language", asked: "Accept-Language: en;q=0.5, de",
            presented: "Accept-Language: de;q=1.0, en; q=0.50", true, "a weight can be written in several ways"),
        one(
            "vary.language-weight-other", vary: "Accept-Language", asked: "Accept-Language: en;q=0.5",
            presented: "Accept-Language: en;q=0.6", false, "weights mean something"),
        one(
            "vary.language-weight-malformed", vary: "Accept-Language", asked: "Accept-Language: en;q=abc",
            presented: "Accept-Language: en", false, "a malformed weight is another text"),
        one(
            "vary.language-weight-hexadecimal", vary: "Accept-Language", asked: "Accept-Language: en;q=0x1",
            presented: "Accept-Language: en;q=1", false, "a weight is decimal"),
        one(
            "vary.language-weight-point", vary: "Accept-Language", asked: "Accept-Language: en;q=1., de;q=0.",
            presented: "Accept-Language: en, de;q=0.000", true, "decimals may be missing"),
        one(
            "vary.language-other", vary: "Accept-Language", asked: "Accept-Language: en, de",
            presented: "Accept-Language: de", false, "other languages are asked for"),
        one(
            "vary.encoding", vary: "Accept-Encoding", asked: "Accept-Encoding: gzip, br",
            presented: "Accept-Encoding: BR,GZIP", true, "neither case nor order of codings means anything"),
        one(
            "vary.accept", vary: "Accept", asked: "Accept: text/html;level=1, image/png",
            presented: "Accept: IMAGE/png, Text/HTML;level=1", true, "neither case nor order of types means anything"),
        one(
            "vary.accept-parameter", vary: "Accept", asked: "Accept: text/html;v=A", presented: "Accept: text/html;v=a",
            false, "the values of parameters may be case-sensitive"),
        one(
            "vary.accept-quoted", vary: "Accept", asked: "Accept: text/html;a=\"b;;c\"",
            presented: "Accept: text/html;a=\"b;c\"", false, "a semicolon in quotes separates nothing"),
        one(
            "vary.accept-quoted-space", vary: "Accept", asked: "Accept: text/html;a=\"b;  c\"",
            presented: "Accept: text/html;a=\"b; c\"", false, "white space in quotes means something"),
        one(
            "vary.quoted-comma", vary: "A", asked: "A: \"1, 2\"", presented: "A: \"1,2\"", false,
            "white space in a quoted string means something"),
    ]

    static let several = [
        Rule(
            "vary.variants", "4.1", .get("A: 1"), [stored("A", asked: "A: 2"), stored("A", asked: "A: 1")], at: 1,
            "reuse 1", "the variant for these fields is selected"),
        Rule(
            "vary.most-recent", "4.1", .get("A: 1"),
            [stored("A", asked: "A: 1", arrived: 0), stored("B", asked: "", arrived: 5)], at: 9, "reuse 1",
            "of several selected responses the most recent one is used"),
        Rule(
            "vary.default-response", "4.1", .get("A: 1"),
            [stored("A", asked: "A: 2", arrived: 5), .response("Cache-Control: max-age=600")], at: 9, "forward",
            "a response without Vary is matched by the Vary of the others"),
        Rule(
            "vary.default-response-known", "4.1", .get("A: 1"),
            [
                .response(
                    "Cache-Control: max-age=600", arrived: 8, asked: .get("A: 1"),
                    siblings: [stored("A", asked: "A: 2", arrived: 5)]),
                stored("A", asked: "A: 2", arrived: 5),
            ], at: 9, "reuse 0", "its fields were noted when it was stored"),
        Rule(
            "vary.implied", "4.1", .get(session: "A: 1"), [stored("A", asked: "A: 1")], at: 1, "reuse 0",
            "fields that the session adds count"),
        Rule(
            "vary.own-before-implied", "4.1", .get("A: 2", session: "A: 1"), [stored("A", asked: "A: 1")], at: 1,
            "forward", "the request's own field is the one that is sent"),
    ]

    static let credentials = [
        Rule(
            "credential.same", "3.5", .get("Authorization: x"),
            [.response("Cache-Control: max-age=60", asked: .get("Authorization: x"))], at: 1, "reuse 0",
            "the same credential"),
        Rule(
            "credential.other", "3.5", .get("Authorization: y"),
            [.response("Cache-Control: public, max-age=60", asked: .get("Authorization: x"))], at: 1, "forward",
            "an answer to one credential is never given to another"),
        Rule(
            "credential.none-now", "3.5", .get(),
            [.response("Cache-Control: max-age=60", asked: .get("Authorization: x"))], at: 1, "forward",
            "nor to an anonymous request"),
        Rule(
            "credential.none-then", "3.5", .get("Authorization: x"), [.response("Cache-Control: max-age=60")], at: 1,
            "forward", "nor does an anonymous response answer a request with credentials"),
        Rule(
            "credential.implied", "3.5", .get(session: "Authorization: y"),
            [.response("Cache-Control: max-age=60", asked: .get(session: "Authorization: x"))], at: 1, "forward",
            "a session's credential is one, too"),
        Rule(
            "credential.vary", "4.1", .get("Authorization: x"),
            [.response("Cache-Control: max-age=60\nVary: Authorization", asked: .get("Authorization: x"))], at: 1,
            "reuse 0", "Vary compares the digests"),
        Rule(
            "credential.cookie-other", "3.5", .get("Cookie: a=2"),
            [.response("Cache-Control: max-age=60", asked: .get("Cookie: a=1"))], at: 1, "forward",
            "a cookie that the caller set is a credential"),
        Rule(
            "credential.cookie-none-then", "3.5", .get("Cookie: a=1"), [.response("Cache-Control: max-age=60")], at: 1,
            "reuse 0", "an anonymous answer is not varied by cookies"),
        Rule(
            "credential.cookie-implied", "3.5", .get(session: "Cookie: a=2"),
            [.response("Cache-Control: max-age=60", asked: .get(session: "Cookie: a=1"))], at: 1, "reuse 0",
            "cookies of a cookie storage change with every answer of many servers"),
        Rule(
            "credential.cookie-private", "3.5", .get(session: "Cookie: a=2"),
            [.response("Cache-Control: private, max-age=60", asked: .get(session: "Cookie: a=1"))], at: 1, "forward",
            "what is private belongs to who asked"),
        Rule(
            "credential.any-policy", "3.5", .get("Authorization: y", policy: .returnCacheElseLoad),
            [.response("Cache-Control: max-age=60", asked: .get("Authorization: x"))], at: 1, "forward",
            "no cache policy changes that"),
    ]

    @Test("is as the table says", arguments: single + several + credentials)
    func verdict(_ rule: Rule) { rule.check() }

    static let names = [
        "Authorization", "X-Api-Key", "api-key", "APIKEY", "X-Auth-Token", "X-Access-Token", "X-Auth-Key",
        "X-Amz-Security-Token", "X-Goog-Api-Key", "X-Session-Token", "Private-Token", "DD_API_KEY",
    ]

    @Test("a credential binds in a field of any name: other, gone, new; only a digest is kept", arguments: names)
    func credential(name: String) {
        for (asked, presented, isMatch) in [("x", "x", true), ("x", "y", false), ("x", nil, false), (nil, "x", false)] {
            for vary in ["", "\nVary: \(name)"] {
                let fields = "Cache-Control: public, max-age=60" + vary
                let stored = Candidate.response(fields, asked: .get(asked.map { "\(name): \($0)" } ?? ""))
                Rule(
                    "credential.name", "3.5", .get(presented.map { "\(name): \($0)" } ?? ""), [stored], at: 1,
                    isMatch ? "reuse 0" : "forward", "\(asked ?? "nobody") then, \(presented ?? "nobody") now"
                ).check()
                #expect(!stored.response.selectingFields.lines.contains { $0.value == "x" })
            }
        }
    }

    @Test("other fields bind nothing, and secrets are told from them by words of their names")
    func others() {
        for name in [
            "Accept", "User-Agent", "Monkey", "X-Author", "Keyboard", "X-Request-ID", "Tokenizer", "", "-",
            "Idempotency-Key", "x-idempotency-key",
        ] {
            #expect(!CacheRules.isCredential(name) && !CacheRules.isSecret(name), "\(name)")
        }
        for name in ["X-CSRF-Token", "x-xsrf-token", "X-CSRFToken", "Proxy-Authorization"] {
            #expect(!CacheRules.isCredential(name) && CacheRules.isSecret(name), "\(name)")
        }
        #expect(CacheRules.isCredential("Cookie") && !CacheRules.alwaysBinds("cookie"))
        for name in ["Proxy-Authorization", "Cookie"] { #expect(CacheRules.identifiesUser(name)) }
        #expect(!CacheRules.identifiesUser("X-CSRF-Token"))
    }

    @Test("keeps the fields that Vary names, and of credentials a digest")
    func kept() {
        let request = CacheRequest.get("A: 1\nB: 2\nAuthorization: secret\nCookie: secret")
        let kept = CacheRules.selectingFields(of: request, for: HTTPFields(lines: "Vary: a, C"))
        #expect(kept["A"] == "1" && kept["B"] == nil && kept["C"] == nil)
        #expect(kept["Authorization"] == "sha-256=2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b")
        #expect(kept["Cookie"] == kept["Authorization"])
    }

    @Test("digests texts of all lengths around a block as SHA-256 does")
    func digests() {
        let expected = [
            0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            3: "ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc",
            55: "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59",
            56: "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562",
            63: "29af2686fd53374a36b0846694cc342177e428d1647515f078784d69cdb9e488",
            64: "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108",
            65: "4bfd2c8b6f1eec7a2afeb48b934ee4b2694182027e6d0fc075074f2fabb31781",
        ]
        for (length, digest) in expected {
            let text = String(decoding: (0..<length).map { UInt8($0) }, as: UTF8.self)
            let kept = CacheRules.selectingFields(
                of: CacheRequest(url: CacheRequest.url, fields: HTTPFields([("Authorization", text)])),
                for: HTTPFields())
            #expect(kept["Authorization"] == "sha-256=\(digest)", "\(length) bytes")
        }
    }
}
