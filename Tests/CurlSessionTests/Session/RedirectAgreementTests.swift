import Foundation
import FoundationNetworking
import HTTPCaching
import TestTraits
import Testing

@testable import CurlSession

/// A `CurlSession` has redirect rules of its own, because it does not depend on HTTPCaching. They must not drift apart.
@Suite(.bounded) struct RedirectAgreementTests {
    private static let fields = [
        "Accept", "Authorization", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location",
        "Content-Type", "Cookie", "Host", "Proxy-Authorization", "Range", "Transfer-Encoding", "X-Request-Id",
    ]
    private static let locations = [
        "/x", "x?y", "?q", "#f", "//a.test:80/x", "HTTP://A.test/x", "http://b.test/", "http://a.test:8080/x",
        "https://a.test/x", "/a b", "\\\\b.test\\x", "",
    ]

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], [200, 300, 301, 302, 303, 304, 307, 308])
    func `a session and a Synchronizer follow a redirect with the same request`(method: String, status: Int) throws {
        let url = try #require(URL(string: "http://a.test/a/b?c"))
        var request = URLRequest(url: url)
        request.httpMethod = method
        if method != "GET" { request.httpBody = Data("body".utf8) }
        for name in Self.fields { request.setValue("value", forHTTPHeaderField: name) }
        for location in Self.locations {
            let head = CurlResponseHead(
                url: url, version: "HTTP/1.1", status: status, fields: [.init(name: "Location", value: location)])
            let next = SessionRedirects.request(after: request, head: head)
            let verdict = CacheRules.redirect(
                from: url, method: method, hasBodyStream: false, status: status, location: location)
            guard case .follow(let target) = verdict else {
                #expect(next == nil, "\(location)")
                continue
            }
            let parts = { (url: URL?) in [url?.host, url?.path, url?.query, url?.fragment] }
            #expect(parts(next?.url) == parts(target.url), "\(location)")
            #expect(next?.httpMethod == (target.keepsMethod ? method : "GET"))
            #expect(next?.httpBody == (target.keepsMethod ? request.httpBody : nil))
            #expect(
                next?.allHTTPHeaderFields?.keys.sorted() == Self.fields.filter { !target.drops($0) }, "\(location)")
        }
    }

    @Test(
        arguments: [
            "/x/../y", "/x/./y/.", "/../..", "/x/%2E%2e/y", "/x/.%2e?q=/../", "/.x/..y/...", "//x//../y", "/%2Ex/%2e",
        ])
    func `a cache key has the path that the session sends`(path: String) {
        let url = "http://a.test" + path
        #expect(CacheRules.cacheKey(of: url) == URLReference.target(of: url))
    }
}
