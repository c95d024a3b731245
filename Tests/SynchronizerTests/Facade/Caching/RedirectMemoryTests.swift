import Foundation
import ScriptedServer
import Synchronizer
import TestSupport
import TestTraits
import Testing

/// RFC 9111 §3, §4: each redirect is a response, and its own rules say whether it may be used again.
@Suite("An object that was loaded through a redirect", .bounded)
struct RedirectMemoryTests {
    /// A server whose redirect has these fields.
    private func bench(_ redirect: [String: String]) throws -> Workbench {
        let bench = try Workbench()
        bench.server["/latest"] = redirect.reduce(Reply.redirect(to: "/1")) { $0.adding($1.key, value: $1.value) }
        bench.server.handle("/1") { _ in Reply("one", fields: ["Cache-Control": "max-age=3600"]) }
        return bench
    }

    private func requests(_ path: String, to bench: Workbench) -> Int {
        bench.server.requests.count { $0.target == path }
    }

    @Test(
        "does not answer for a redirect that must not be used again",
        arguments: ["no-store", "no-cache", "max-age=0", "max-age=60"])
    func restricted(directive: String) async throws {
        let bench = try bench(["Cache-Control": directive])
        let synchronizer = bench.synchronizer()
        let resource = DataResource(url: bench.server.url("/latest"))
        _ = try await synchronizer.load(resource)
        if directive == "max-age=60" {
            #expect(synchronizer.cachedObject(for: resource) != nil)
            bench.clock.advance(by: 61)
        }
        #expect(synchronizer.cachedObject(for: resource) == nil)
        #expect(try await synchronizer.load(resource) == Data("one".utf8))
        #expect(requests("/latest", to: bench) == 2)
        #expect(requests("/1", to: bench) == 1)
    }

    @Test("lives as long as the last response if the redirect says nothing")
    func silent() async throws {
        let bench = try bench([:])
        let synchronizer = bench.synchronizer()
        let resource = DataResource(url: bench.server.url("/latest"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 3599)
        #expect(synchronizer.cachedObject(for: resource) != nil)
        bench.clock.advance(by: 2)
        #expect(synchronizer.cachedObject(for: resource) == nil)
    }

    @Test("does not answer the next user if the redirect depends on the session's cookies")
    func cookies() async throws {
        let bench = try bench(["Cache-Control": "private, max-age=60", "Vary": "Cookie"])
        let configuration = URLSessionConfiguration.ephemeral
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        let resource = DataResource(url: bench.server.url("/latest"))
        _ = try await synchronizer.load(resource)
        #expect(synchronizer.cachedObject(for: resource) == nil)
    }

    @Test("is forgotten when its last URL is invalidated", arguments: [true, false])
    func invalidated(byServer: Bool) async throws {
        let bench = try bench(["Cache-Control": "max-age=3600"])
        let synchronizer = bench.synchronizer()
        let resource = DataResource(url: bench.server.url("/latest"))
        _ = try await synchronizer.load(resource)
        #expect(synchronizer.cachedObject(for: resource) != nil)
        if byServer {
            var request = URLRequest(url: bench.server.url("/1"))
            request.httpMethod = "PUT"
            _ = try await synchronizer.load(EmptyResource(request: request))
        } else {
            synchronizer.invalidate(DataResource(url: bench.server.url("/1")))
        }
        #expect(synchronizer.cachedObject(for: resource) == nil)
    }
}

@Suite("Memory does not answer", .bounded)
struct MemoryBypassTests {
    @Test(
        "if the session adds a directive to each request (RFC 9111 §5.2.1)",
        arguments: [("Cache-Control", "no-cache"), ("cache-control", "max-age=0"), ("Pragma", "no-cache")])
    func sessionDirective(name: String, value: String) async throws {
        let bench = try Workbench()
        bench.server.handle("/x") { _ in
            Reply("hello", fields: ["Cache-Control": "max-age=600", "ETag": "\"1\""]).conditional()
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = [name: value]
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        let resource = DataResource(url: bench.server.url("/x"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 1)
        #expect(try await synchronizer.loaded(resource).source == .revalidated)
        #expect(bench.server.requests.last?["If-None-Match"] == "\"1\"")
    }

    @Test("if the response varies on a tracing header, which differs (RFC 9111 §4.1)")
    func tracingHeader() async throws {
        let bench = try Workbench()
        bench.server.handle("/x") { request in
            Reply(request["X-Request-ID"] ?? "", fields: ["Cache-Control": "max-age=600", "Vary": "X-Request-ID"])
        }
        let synchronizer = bench.synchronizer()
        for id in ["1", "2"] {
            var request = URLRequest(url: bench.server.url("/x"))
            request.setValue(id, forHTTPHeaderField: "X-Request-ID")
            #expect(try await synchronizer.load(DataResource(request: request)) == Data(id.utf8))
        }
    }
}
