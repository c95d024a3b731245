import Foundation
import ScriptedServer
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("JSONResource", .bounded)
struct JSONResourceTests {
    private func accept(_ resource: JSONResource<[Int]>) -> String? {
        resource.request().value(forHTTPHeaderField: "Accept")
    }

    @Test("asks for application/json, unless the request has an Accept")
    func accept() async throws {
        let bench = try Workbench()
        bench.server["/a"] = Reply("[1]")
        let url = bench.server.url("/a")
        var request = URLRequest(url: url)
        let resources = [JSONResource<[Int]>(url: url), JSONResource(request: request)]
        #expect(resources.map(accept) == ["application/json", "application/json"])
        request.setValue("application/problem+json", forHTTPHeaderField: "accept")
        #expect(accept(JSONResource(request: request)) == "application/problem+json")
        _ = try await bench.synchronizer().load(resources[1])
        #expect(bench.server.requests.map { $0["Accept"] } == ["application/json"])
    }
}
