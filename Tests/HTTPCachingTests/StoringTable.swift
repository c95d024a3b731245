import HTTPCaching
import Testing

/// RFC 9111 §3: what may be stored.
@Suite("Storing")
struct StoringTable {
    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let section: String
        let request: CacheRequest
        let status: Int
        let lines: String
        let objection: StoringObjection?

        init(
            _ id: String, _ section: String, _ request: CacheRequest, status: Int = 200, _ lines: String,
            _ objection: StoringObjection? = nil
        ) {
            self.id = id
            self.section = section
            self.request = request
            self.status = status
            self.lines = lines
            self.objection = objection
        }

        init(
            _ id: String, _ section: String, status: Int = 200, _ lines: String,
            _ objection: StoringObjection? = nil
        ) {
            self.init(id, section, .get(), status: status, lines, objection)
        }

        var testDescription: String { "\(id) (\(section))" }
    }

    /// The response to a `POST`, with an explicit lifetime and the `Content-Location` of the target.
    private static func post(_ id: String, _ status: Int, _ objection: StoringObjection?) -> Case {
        Case(
            id, "RFC 9110 §8.7", .request("POST"), status: status,
            "Cache-Control: max-age=60\nContent-Location: /x\nContent-Range: bytes 0-4/5", objection)
    }

    static let cases = [
        Case("store.get", "3", "Cache-Control: max-age=60"),
        Case("store.nothing-said", "3", "A: 1"),
        Case("store.head", "3", .request("HEAD"), "Cache-Control: max-age=60", .method),
        Case("store.put", "3", .request("PUT"), "Cache-Control: max-age=60", .method),
        Case("store.unknown-method", "3", .request("FOO"), "Cache-Control: max-age=60", .method),
        Case("store.post", "RFC 9110 §9.3.3", .request("POST"), "Cache-Control: max-age=60", .method),
        Case(
            "store.post-location", "RFC 9110 §9.3.3", .request("POST"),
            "Cache-Control: max-age=60\nContent-Location: /x"),
        Case(
            "store.post-other-location", "RFC 9110 §9.3.3", .request("POST"),
            "Cache-Control: max-age=60\nContent-Location: /y", .method),
        Case(
            "store.post-no-lifetime", "RFC 9110 §9.3.3", .request("POST"), "Content-Location: /x", .method),
        post("store.post-created", 201, nil),
        post("store.post-empty", 204, .method),
        post("store.post-part", 206, .method),
        post("store.post-redirect", 303, .method),
        post("store.post-not-found", 404, .method),
        post("store.post-failure", 500, .method),
        Case("store.interim", "3", status: 103, "Cache-Control: max-age=60", .status),
        Case("store.304", "3", status: 304, "Cache-Control: max-age=60", .status),
        Case("store.412", "RFC 9110 §15.5.13", status: 412, "Cache-Control: max-age=60", .status),
        Case("store.416", "RFC 9110 §15.5.17", status: 416, "Cache-Control: max-age=60", .status),
        Case("store.206", "3.3", status: 206, "Cache-Control: max-age=60\nContent-Range: bytes 0-4/10"),
        Case("store.206-no-range", "3.3", status: 206, "Cache-Control: max-age=60", .status),
        Case("store.206-unit", "3.3", status: 206, "Cache-Control: max-age=60\nContent-Range: lines 0-4/10", .status),
        Case("store.206-several", "3.3", status: 206, "Content-Type: multipart/byteranges; boundary=x", .status),
        Case(
            "store.206-several-with-range", "RFC 9110 §15.3.7.2", status: 206,
            "Content-Type: Multipart/Byteranges; boundary=x\nContent-Range: bytes 0-9/100", .status),
        Case("store.unknown-status", "3", status: 599, "Cache-Control: max-age=60"),
        Case("store.must-understand", "5.2.2.3", status: 200, "Cache-Control: max-age=60, must-understand, no-store"),
        Case(
            "store.must-understand-not", "5.2.2.3", status: 599,
            "Cache-Control: max-age=60, must-understand, no-store", .noStore),
        Case("store.no-store", "3", "Cache-Control: max-age=60, no-store", .noStore),
        Case("store.no-store-case", "5.2", "cache-control: NO-STORE", .noStore),
        Case("store.no-store-argument", "5.2", "Cache-Control: max-age=60, no-store=x", .noStore),
        Case("store.no-store-later-line", "5.2", "Cache-Control: max-age=60\nCache-Control: no-store", .noStore),
        Case("store.no-store-after-open-quote", "5.2", "Cache-Control: a=\"b, no-store", .noStore),
        Case("store.no-store-in-quotes", "5.2", "Cache-Control: max-age=60, a=\"no-store\""),
        Case(
            "store.request-no-store", "5.2.1.5", .get("Cache-Control: no-store"), "Cache-Control: max-age=60",
            .requestNoStore),
        Case("store.authorization", "3.5", .get("Authorization: x"), "Cache-Control: max-age=60"),
        Case("store.private", "3", status: 299, "Cache-Control: private"),
        Case("store.private-fields", "5.2.2.7", status: 299, "Cache-Control: private=\"A\""),
        Case("store.public", "3", status: 299, "Cache-Control: public"),
        Case("store.expires", "3", status: 299, "Expires: 0"),
        Case("store.max-age", "3", status: 299, "Cache-Control: max-age=0"),
        Case("store.s-maxage", "3", status: 299, "Cache-Control: s-maxage=60", .notCacheable),
        Case("store.heuristic-status", "3", status: 404, "A: 1"),
        Case("store.other-status", "3", status: 403, "A: 1", .notCacheable),
        Case("store.302", "3", status: 302, "Location: /y", .notCacheable),
        Case("store.no-cache", "5.2.2.4", "Cache-Control: no-cache"),
        Case("store.vary", "4.1", "Cache-Control: max-age=60\nVary: A"),
        Case("store.vary-star", "4.1", "Cache-Control: max-age=60\nVary: *", .variesOnEverything),
        Case("store.vary-malformed", "4.1", "Cache-Control: max-age=60\nVary: A; B", .variesOnEverything),
    ]

    @Test("is allowed as the table says", arguments: cases)
    func objection(_ test: Case) {
        let objection = CacheRules.objection(
            toStoring: test.status, fields: HTTPFields(lines: test.lines), answering: test.request)
        #expect(objection == test.objection, "\(test.testDescription)")
    }

    @Test("keeps every field but those of the connection, of proxies, and those that no-cache names (3.1)")
    func fields() {
        let kept = ["A", "Set-Cookie", "X-Unknown", "Content-Type", "Public-Key-Pins", "Warning", "Cache-Control", "P"]
        let dropped = [
            "Connection", "Named", "Also-Named", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate",
            "Proxy-Authentication-Info", "Proxy-Authorization", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
            "Secret",
        ]
        var fields = HTTPFields((kept + dropped).map { ($0, "1") })
        fields["Connection"] = "named, Also-Named"
        fields["Cache-Control"] = "no-cache=\"secret\", private=\"P\""
        let stored = CacheRules.storedFields(of: fields, receivedAt: Moment.arrival)
        for name in kept { #expect(stored[name] == fields[name], "\(name)") }
        for name in dropped { #expect(stored[name] == nil, "\(name)") }
    }

    @Test("keeps the fields that decide about reuse, whichever lists name them (RFC 9110 §7.6.1)")
    func deciding() {
        let names = "Vary, cache-control, Age, Date, Expires"
        for list in ["Connection: X, \(names)", "Cache-Control: no-cache=\"X, \(names)\""] {
            let fields = HTTPFields(
                lines: "\(list)\nCache-Control: max-age=60\nVary: A\nAge: 1\nDate: 2\nExpires: 3\nX: 4")
            let stored = CacheRules.storedFields(of: fields, receivedAt: Moment.arrival)
            for name in ["Vary", "Cache-Control", "Age", "Date", "Expires"] {
                #expect(stored[name] == fields[name], "\(name)")
            }
            #expect(stored["X"] == nil)
        }
    }

    @Test("keeps repeated lines as they are")
    func repeated() {
        let fields = HTTPFields([("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("Date", "x")])
        #expect(CacheRules.storedFields(of: fields, receivedAt: Moment.arrival) == fields)
    }

    @Test("gives a response without Date the time of its arrival (RFC 9110 §6.6.1)")
    func date() {
        let stored = CacheRules.storedFields(of: HTTPFields(), receivedAt: Moment.arrival)
        #expect(stored["Date"] == "Fri, 15 Jan 2027 08:00:00 GMT")
    }

    @Test("of a status outside the table of those understood is prevented by must-understand alone")
    func understood() {
        let statuses = [200, 206, 301, 404, 503, 299, 399, 499, 599]
        let refused = statuses.filter { status in
            let lines = "Cache-Control: max-age=60, must-understand\nContent-Range: bytes 0-1/2"
            return CacheRules.objection(toStoring: status, fields: HTTPFields(lines: lines), answering: .get()) != nil
        }
        #expect(refused == [299, 399, 499, 599])
    }
}
