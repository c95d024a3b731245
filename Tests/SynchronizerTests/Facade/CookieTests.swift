import Foundation
import ScriptedServer
import TestSupport
import Testing

@testable import Synchronizer

@Suite("Cookies of the session", .timeLimit(.minutes(2)))
struct CookieTests {
    @Test(
        "what was made for one who is logged in is not given to another, from memory or from the store",
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
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "user", .value: user, .domain: "127.0.0.1", .path: "/",
            ]
            cookies.setCookie(try #require(HTTPCookie(properties: properties)))
            #expect(String(decoding: try await synchronizer.load(resource), as: UTF8.self) == "user=\(user)")
        }
    }
}
