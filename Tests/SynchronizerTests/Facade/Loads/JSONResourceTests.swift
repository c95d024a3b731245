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

    @Test("as DataResource and EmptyResource, takes a method and headers without a body")
    func headers() {
        let url = URL(fileURLWithPath: "/")
        let fields = ["accept": "text/plain", "X-A": "1"]
        let requests = [
            JSONResource<[Int]>(url: url, headers: fields).request(), DataResource(url: url, headers: fields).request(),
            EmptyResource(url: url, headers: fields).request(),
            JSONResource<[Int]>(url: url, method: "DELETE", headers: fields).request(),
            DataResource(url: url, method: "DELETE", headers: fields).request(),
            EmptyResource(url: url, method: "DELETE", headers: fields).request(),
        ]
        #expect(requests.map(\.httpMethod) == ["GET", "GET", "HEAD", "DELETE", "DELETE", "DELETE"])
        #expect(
            requests.allSatisfy {
                $0.value(forHTTPHeaderField: "Accept") == "text/plain" && $0.value(forHTTPHeaderField: "X-A") == "1"
                    && $0.httpBody == nil
            })
        #expect(accept(JSONResource(url: url, method: "DELETE")) == "application/json")
        #expect([url].map(DataResource.init(url:)).map(\.identity) == [DataResource(url: url, method: "GET").identity])
    }

    @Test("replaces the Content-Type of a JSON body by that of the headers, however it is written")
    func contentType() throws {
        let url = URL(fileURLWithPath: "/")
        let own = try JSONResource<[Int]>(url: url, headers: ["content-type": "application/x"], body: [1]).request()
        #expect(own.value(forHTTPHeaderField: "Content-Type") == "application/x")
        let usual = try JSONResource<[Int]>(url: url, body: [1]).request()
        #expect(usual.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }
}
