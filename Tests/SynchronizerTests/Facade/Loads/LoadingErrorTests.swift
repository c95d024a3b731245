import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Loads that fail", .bounded)
struct LoadingErrorTests {
    let bench: Workbench
    let synchronizer: Synchronizer

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
    }

    @Test("a status outside 200 to 299 is an error that tells it", arguments: [400, 401, 403, 404, 410, 429, 500, 503])
    func status(code: Int) async throws {
        bench.server["/a"] = Reply("no", status: code)
        let error = await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(DataResource(url: bench.server.url("/a")))
        }
        guard case .status(let response, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(response.statusCode == code)
        #expect(context.url == bench.server.url("/a"))
        #expect(context.trace.status == code)
    }

    @Test("an empty body is noData for a completion, and an error for async callers")
    func emptyBody() async throws {
        bench.server["/empty"] = Reply("", status: 200)
        let resource = JSONResource<[String]>(url: bench.server.url("/empty"))
        let isNoData = await withCheckedContinuation { continuation in
            synchronizer.loadResource(resource, on: .global()) { result in
                if case .noData = result {
                    continuation.resume(returning: true)
                } else {
                    continuation.resume(returning: false)
                }
            }
        }
        #expect(isNoData)
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
        guard case .noData? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a response that can't be parsed is an error that names the resource, and is not kept")
    func undecodable() async throws {
        bench.server["/a"] = Reply("not JSON", fields: ["Cache-Control": "max-age=100"])
        let resource = JSONResource<[String]>(url: bench.server.url("/a"))
        for requests in 1...2 {
            let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
            guard case .undecodable(let cause, let context)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause is DecodingError)
            #expect(context.url == bench.server.url("/a"))
            #expect(bench.server.counts.requests == requests)
        }
    }

    @Test("no server is a transport error; a URL of no known scheme is an invalid request")
    func noServer() async throws {
        let url = bench.server.url("/a")
        bench.server.stop()
        let error = await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(DataResource(url: url))
        }
        guard case .transport(let cause, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is URLError)
        let strange = try #require(URL(string: "gopher://127.0.0.1/"))
        let other = await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(DataResource(url: strange))
        }
        guard case .invalidRequest? = other else {
            Issue.record("\(String(describing: other))")
            return
        }
    }

    @Test("an error names the requested URL, after redirects, too", arguments: [404, 200])
    func redirectedError(code: Int) async throws {
        bench.server["/start"] = Reply.redirect(to: "/end")
        bench.server["/end"] = Reply(code == 200 ? "" : "no", status: code)
        let error = await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(JSONResource<[String]>(url: bench.server.url("/start")))
        }
        #expect(error?.url == bench.server.url("/start"))
        #expect(error?.context.trace.redirects == [bench.server.url("/end")])
    }
}
