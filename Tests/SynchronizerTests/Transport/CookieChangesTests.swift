import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Cookies that are being changed", .bounded)
struct CookieChangesTests {
    @Test("are not waited for: whoever reads is told that they are being changed")
    func reading() {
        let changes = CookieChanges()
        #expect(changes.read { "a=1" } == "a=1")
        changes.make {
            changes.make { #expect(changes.read { "a=1" } == nil) }
            #expect(changes.read { "a=1" } == nil, "the other one goes on")
        }
        #expect(changes.read { "a=2" } == "a=2")
    }

    @Test("are known to all sessions with the same storage, for as long as there is one")
    func shared() throws {
        let storages = try (0..<2).map { _ in
            try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        }
        let first = CookieChanges.of(storages[0])
        #expect(CookieChanges.of(storages[0]) === first)
        #expect(CookieChanges.of(storages[1]) !== first)
    }

    @Test("tell each request from all others, so that none shares what was asked for with other cookies")
    func telling() throws {
        let configuration = URLSessionConfiguration.ephemeral
        let storage = try #require(configuration.httpCookieStorage)
        let transport = URLSessionTransport(
            configuration: configuration, delegate: SessionDelegate(), redirects: .reported)
        let url = try #require(URL(string: "http://a.example/x"))
        let properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "1", .domain: "a.example", .path: "/"]
        storage.setCookie(try #require(HTTPCookie(properties: properties)))
        let request = URLRequest(url: url)
        #expect(transport.sessionCookies(for: request) == "a=1")
        CookieChanges.of(storage).make {
            let told = (0..<3).map { _ in transport.sessionCookies(for: request) }
            #expect(Set(told).count == 3 && !told.contains(nil) && !told.contains("a=1"))
            #expect(transport.impliedFields(for: request)["Cookie"] == "a=1", "what is sent is known")
        }
        #expect(transport.sessionCookies(for: request) == "a=1")
    }
}
