import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Cookies of the session", .bounded)
struct CookieTests {
    @Test(
        "a response for a user who is logged in is not given to another user, from memory or from the store",
        arguments: ["private, max-age=100", "max-age=100"])
    func anotherUser(cacheControl: String) async throws {
        let bench = try Workbench()
        bench.server.handle("/me") { request in
            Reply(request["Cookie"] ?? "nobody", fields: ["Cache-Control": cacheControl, "Vary": "Cookie"])
        }
        let configuration = URLSessionConfiguration.ephemeral
        let cookies = try #require(configuration.httpCookieStorage)
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        let resource = DataResource(url: bench.server.url("/me"))
        for user in ["one", "other", "one"] {
            cookies.setCookie(try #require(Self.cookie(user)))
            #expect(String(decoding: try await synchronizer.load(resource), as: UTF8.self) == "user=\(user)")
        }
    }

    private static func cookie(_ user: String) -> HTTPCookie? {
        HTTPCookie(properties: [.name: "user", .value: user, .domain: "127.0.0.1", .path: "/"])
    }

    @Test(
        "a response that varies by cookies and was made without any is not given to a user who has logged in, nor the reverse",
        arguments: ["Cookie", "Accept, cookie"])
    func loggingIn(vary: String) async throws {
        let bench = try Workbench()
        bench.server.handle("/me") { request in
            Reply(request["Cookie"] ?? "nobody", fields: ["Cache-Control": "max-age=100", "Vary": vary])
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Accept-Language": "de"]
        let cookies = try #require(configuration.httpCookieStorage)
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        let resource = DataResource(url: bench.server.url("/me"))
        #expect(try await synchronizer.load(resource) == Data("nobody".utf8))
        #expect(try await synchronizer.loaded(resource).source == .cache, "the store judges it each time")
        let cookie = try #require(Self.cookie("one"))
        cookies.setCookie(cookie)
        #expect(synchronizer.cachedObject(for: resource) == nil)
        #expect(try await synchronizer.load(resource) == Data("user=one".utf8))
        cookies.deleteCookie(cookie)
        #expect(try await synchronizer.load(resource) == Data("nobody".utf8))
    }

    @Test("a request that wants no cookies sends none, keeps none, and its object is kept in memory")
    func unwanted() async throws {
        let bench = try Workbench()
        bench.server.handle("/set") { _ in
            Reply("set", fields: ["Cache-Control": "max-age=100", "Vary": "Cookie", "Set-Cookie": "a=1; Path=/"])
        }
        bench.server["/start"] = Reply.redirect(to: "/set").adding("Set-Cookie", value: "b=2; Path=/")
        let configuration = URLSessionConfiguration.ephemeral
        let cookies = try #require(configuration.httpCookieStorage)
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        var request = URLRequest(url: bench.server.url("/start"))
        request.httpShouldHandleCookies = false
        let resource = DataResource(request: request)
        #expect(try await synchronizer.load(resource) == Data("set".utf8))
        #expect(cookies.cookies?.isEmpty ?? true)
        #expect(try await synchronizer.load(resource) == Data("set".utf8))
        #expect(bench.server.requests.allSatisfy { $0["Cookie"] == nil })
        #expect(synchronizer.cachedObject(for: resource) != nil)
    }

    @Test(
        "cookies that responses set, also redirects and errors, are sent from then on, unless the configuration accepts none",
        arguments: [true, false])
    func setByAnswers(accepts: Bool) async throws {
        let bench = try Workbench()
        let configuration = URLSessionConfiguration.ephemeral
        if !accepts { configuration.httpCookieAcceptPolicy = .never }
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        bench.server["/start"] = Reply.redirect(to: "/end").adding("Set-Cookie", value: "a=1; Path=/")
        bench.server["/end"] = Reply("end").adding("set-cookie", value: "b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT")
            .adding("set-cookie", value: "c=3")
        bench.server["/error"] = Reply("no", status: 404).adding("Set-Cookie", value: "d=4")
        for path in ["/start", "/error", "/last"] {
            _ = try? await synchronizer.load(DataResource(url: bench.server.url(path)))
        }
        let sent = bench.server.requests.map { Set(($0["Cookie"] ?? "").components(separatedBy: "; ")) }
        let expected: [Set<String>] = [[""], ["a=1"], ["a=1", "b=2", "c=3"], ["a=1", "b=2", "c=3", "d=4"]]
        #expect(sent == (accepts ? expected : Array(repeating: [""], count: 4)))
    }

    @Test("a load after a log-in does not coalesce with one in flight from before")
    func inFlight() async throws {
        let bench = try Workbench()
        let gate = Gate()
        bench.server.handle("/me") { request in Reply(request["Cookie"] ?? "nobody").waiting(for: gate) }
        let configuration = URLSessionConfiguration.ephemeral
        let cookies = try #require(configuration.httpCookieStorage)
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        let resource = DataResource(url: bench.server.url("/me"))
        var loads: [Task<Data, any Error>] = []
        for (index, user) in ["one", "other"].enumerated() {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "user", .value: user, .domain: "127.0.0.1", .path: "/",
            ]
            cookies.setCookie(try #require(HTTPCookie(properties: properties)))
            loads.append(Task { try await synchronizer.load(resource) })
            try await gate.waitForArrivals(index + 1)
        }
        gate.open()
        #expect(try await loads[0].value == Data("user=one".utf8))
        #expect(try await loads[1].value == Data("user=other".utf8))
    }
}
