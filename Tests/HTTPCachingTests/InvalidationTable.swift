import HTTPCaching
import Testing

/// RFC 9111 §4.4: what an answer makes invalid.
@Suite("Invalidation")
struct InvalidationTable {
    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let method: String
        let status: Int
        let lines: String
        let paths: [String]

        init(_ id: String, _ method: String, _ status: Int, _ lines: String, _ paths: [String]) {
            self.id = id
            self.method = method
            self.status = status
            self.lines = lines
            self.paths = paths
        }

        init(_ id: String, _ method: String, _ status: Int, _ paths: [String]) {
            self.init(id, method, status, "", paths)
        }

        var testDescription: String { "\(id) (4.4)" }
    }

    static let cases = [
        Case("invalidate.post", "POST", 200, ["/x"]), Case("invalidate.put", "PUT", 201, ["/x"]),
        Case("invalidate.delete", "DELETE", 204, ["/x"]), Case("invalidate.patch", "PATCH", 200, ["/x"]),
        Case("invalidate.unknown", "FOO", 200, ["/x"]), Case("invalidate.redirect", "POST", 303, ["/x"]),
        Case("invalidate.client-error", "POST", 404, []), Case("invalidate.server-error", "POST", 500, []),
        Case("invalidate.get", "GET", 200, []), Case("invalidate.head", "HEAD", 200, []),
        Case("invalidate.options", "OPTIONS", 200, []), Case("invalidate.propfind", "PROPFIND", 207, []),
        Case("invalidate.lower-case", "get", 200, ["/x"]),
        Case("invalidate.location", "POST", 201, "Location: /y", ["/x", "/y"]),
        Case("invalidate.content-location", "POST", 200, "Content-Location: y?z", ["/x", "/y?z"]),
        Case("invalidate.both", "POST", 200, "Location: /y\nContent-Location: /z", ["/x", "/y", "/z"]),
        Case("invalidate.same", "POST", 200, "Location: /x#y", ["/x"]),
        Case("invalidate.absolute", "POST", 200, "Location: HTTP://A.example:80/y", ["/x", "/y"]),
        Case("invalidate.other-host", "POST", 200, "Location: http://b.example/y", ["/x"]),
        Case("invalidate.other-port", "POST", 200, "Location: http://a.example:8080/y", ["/x"]),
        Case("invalidate.other-scheme", "POST", 200, "Location: https://a.example/y", ["/x"]),
        Case("invalidate.other-host-prefix", "POST", 200, "Location: http://a.example.b/y", ["/x"]),
        Case("invalidate.user-info", "POST", 200, "Location: http://a.example@b.example/y", ["/x"]),
        Case("invalidate.nonsense", "POST", 200, "Location: http://[", ["/x"]),
    ]

    @Test("is as the table says", arguments: cases)
    func keys(_ test: Case) {
        let keys = CacheRules.invalidatedKeys(
            after: .request(test.method), status: test.status, fields: HTTPFields(lines: test.lines))
        #expect(keys == test.paths.map { "http://a.example\($0)" }, "\(test.testDescription)")
    }
}
