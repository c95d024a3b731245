import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("A redirect", .bounded)
struct RedirectTests {
    /// What follows a response to a request.
    enum Step {
        case stay
        case follow(URLRequest)
        case refuse(URLError.Code)
    }

    static func step(
        _ location: String?, status: Int = 302, from url: String = "http://a.example/b/c?d=e",
        _ change: (inout URLRequest) -> Void = { _ in }
    ) -> Step {
        guard let url = URL(string: url) else { return .stay }
        var request = URLRequest(url: url)
        change(&request)
        switch request.redirect(status: status, location: location) {
        case .none: return .stay
        case .follow(let target): return .follow(request.following(target))
        case .refuse(let refusal): return .refuse(refusal.error.code)
        }
    }

    static func followed(_ step: Step) -> URLRequest? {
        if case .follow(let request) = step { request } else { nil }
    }

    @Test(
        "leads where RFC 3986 says",
        arguments: [
            ("http://b.example/x", "http://b.example/x"), ("HTTP://b.example/x", "http://b.example/x"),
            ("HttpS://b.example/x", "https://b.example/x"), ("/x", "http://a.example/x"), ("x", "http://a.example/b/x"),
            ("x/y", "http://a.example/b/x/y"), ("?q=1", "http://a.example/b/c?q=1"), ("../x", "http://a.example/x"),
            ("//b.example/x", "http://b.example/x"), ("./", "http://a.example/b/"),
            ("#f", "http://a.example/b/c?d=e#f"),
            ("../../../x", "http://a.example/x"), ("x?y=z#f", "http://a.example/b/x?y=z#f"),
            ("\\\\b.example\\x", "http://b.example/x"), ("/x\t/y\r\n", "http://a.example/x/y"),
        ])
    func target(location: String, url: String) {
        #expect(Self.followed(Self.step(location))?.url?.absoluteString == url)
    }

    @Test("hands the fragment on, unless the target has one")
    func fragment() {
        let from = "http://a.example/b#top"
        #expect(Self.followed(Self.step("/x", from: from))?.url?.absoluteString == "http://a.example/x#top")
        #expect(Self.followed(Self.step("/x#y", from: from))?.url?.absoluteString == "http://a.example/x#y")
    }

    @Test(
        "keeps the method, or makes it GET without a body",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
            (308, "POST", "POST"), (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"),
            (303, "HEAD", "HEAD"), (301, "HEAD", "HEAD"), (302, "GET", "GET"),
            (301, "QUERY", "QUERY"), (302, "QUERY", "QUERY"), (303, "QUERY", "GET"), (307, "QUERY", "QUERY"),
        ])
    func method(status: Int, method: String, expected: String) {
        let next = Self.followed(
            Self.step("/x", status: status) {
                $0.httpMethod = method
                $0.httpBody = Data("body".utf8)
                $0.setValue("text/plain", forHTTPHeaderField: "Content-Type")
                $0.setValue("text/html", forHTTPHeaderField: "Accept")
            })
        #expect(next?.httpMethod == expected)
        #expect((next?.httpBody == nil) == (method != expected))
        #expect((next?.value(forHTTPHeaderField: "Content-Type") == nil) == (method != expected))
        #expect(next?.value(forHTTPHeaderField: "Accept") == "text/html")
    }

    @Test(
        "takes credentials along to the same origin alone",
        arguments: [
            ("/x", true), ("http://a.example:80/x", true), ("HTTP://A.EXAMPLE/x", true), ("http://b.example/x", false),
            ("http://a.example:8080/x", false), ("https://a.example/x", false), ("http://a.example.b.example/x", false),
        ])
    func credentials(location: String, keeps: Bool) {
        let names = [
            "Authorization", "cookie", "Proxy-Authorization", "X-API-Key", "Private-Token", "X-CSRF-Token", "Host",
        ]
        let next = Self.followed(
            Self.step(location) { request in
                for name in names { request.setValue("secret", forHTTPHeaderField: name) }
                request.setValue("text/html", forHTTPHeaderField: "Accept")
            })
        for name in names { #expect((next?.value(forHTTPHeaderField: name) != nil) == keeps, "\(name)") }
        #expect(next?.value(forHTTPHeaderField: "Accept") == "text/html")
    }

    @Test("is refused where it would leave HTTP or its protection")
    func refused() {
        let cases: [(String, String, URLError.Code)] = [
            ("file:///etc/passwd", "http://a.example/", .unsupportedURL),
            ("data:,x", "http://a.example/", .unsupportedURL),
            ("ftp://b.example/", "http://a.example/", .unsupportedURL),
            ("http://a.example/", "https://a.example/", .appTransportSecurityRequiresSecureConnection),
            ("http:", "http://a.example/", .unsupportedURL),
        ]
        for (location, from, code) in cases {
            guard case .refuse(let refused) = Self.step(location, from: from) else {
                Issue.record("\(location) was followed from \(from)")
                continue
            }
            #expect(refused == code, "\(location)")
        }
    }

    @Test(
        "is none without a Location, with an empty one, or with another status", arguments: [200, 300, 304, 305, 404])
    func none(status: Int) {
        guard case .stay = Self.step("/x", status: status), case .stay = Self.step(nil, status: 302),
            case .stay = Self.step("", status: 302)
        else {
            Issue.record("followed")
            return
        }
    }

    @Test("is followed hop by hop, and each hop is looked up in the cache")
    func hops() {
        let harness = FetchHarness { request in
            switch request.url?.path {
            case "/a": return FakeReply(301, ["Location": "/b", "Cache-Control": "max-age=60"])
            case "/b": return FakeReply(302, ["Location": "/c"])
            default: return FakeReply(200, ["Cache-Control": "max-age=60"], "end")
            }
        }
        let first = harness.load("http://a.example/a")
        #expect(first.names == ["needsNetwork", "redirected", "redirected", "response", "received", "finished"])
        #expect(first.fetched?.response.urlResponse.url?.absoluteString == "http://a.example/c")
        #expect(first.fetched?.trace.redirects.map(\.path) == ["/b", "/c"])
        let second = harness.load("http://a.example/a")
        #expect(second.body == "end")
        #expect(second.names == ["redirected", "needsNetwork", "redirected", "finished"])
        #expect(harness.transport.requests.map { $0.url?.path } == ["/a", "/b", "/c", "/b"])
    }

    @Test("is followed although its body is cut short, and is not stored then", arguments: [true, false])
    func cutShort(hasError: Bool) {
        let harness = FetchHarness { request in
            guard request.url?.path == "/a" else { return FakeReply(200, [:], "end") }
            let fields = ["Location": "/b", "Cache-Control": "max-age=60", "Content-Length": "9"]
            var reply = FakeReply(301, fields, "x")
            if hasError { reply.error = URLError(.timedOut) }
            return reply
        }
        for _ in 0..<2 { #expect(harness.load("http://a.example/a").body == "end") }
        #expect(harness.transport.requests.map { $0.url?.path } == ["/a", "/b", "/a", "/b"])
    }

    @Test("is followed 20 times and no more")
    func limit() {
        let harness = FetchHarness { request in
            let number = Int(request.url?.lastPathComponent ?? "") ?? 0
            return number == 0 ? FakeReply(200, [:], "end") : FakeReply(302, ["Location": "/\(number - 1)"])
        }
        #expect(harness.load("http://a.example/20").body == "end")
        #expect(harness.load("http://a.example/21").transportError == .httpTooManyRedirects)
        harness.transport.serve { _ in FakeReply(301, ["Location": "/x", "Cache-Control": "max-age=60"]) }
        let events = harness.load()
        #expect(events.transportError == .httpTooManyRedirects)
        #expect(events.error?.description.contains("the server redirected more than 20 times") == true)
    }

    @Test("that must not be followed is an error")
    func error() {
        let harness = FetchHarness(FakeReply(302, ["Location": "file:///etc/passwd"]))
        #expect(harness.load().transportError == .unsupportedURL)
    }

    @Test("that would leave https is an error that says so")
    func downgrade() {
        let events = FetchHarness(FakeReply(302, ["Location": "http://a.example/"])).load("https://a.example/")
        #expect(events.transportError == .appTransportSecurityRequiresSecureConnection)
        #expect(events.error?.description.contains("a redirect leads from https to http") == true)
    }

    @Test("to a scheme that is not supported names it in the error")
    func unsupportedScheme() throws {
        let cases = [
            "ftp://b.example/secret": "a redirect leads to the scheme \"ftp\", which is not supported",
            "FTP://b.example/secret": "the scheme \"ftp\"", "http:": "a redirect leads to a URL without a host",
        ]
        for (location, words) in cases {
            let error = try #require(FetchHarness(FakeReply(302, ["Location": location])).load().error)
            #expect(error.description.contains(words))
            #expect(!error.description.contains("secret"))
            #expect(
                (error.underlyingError as? URLError)?.failingURL?.scheme == URL(string: location)?.scheme?.lowercased())
        }
    }
}
