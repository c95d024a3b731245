import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Credentials", .bounded)
struct CredentialTests {
    @Test("of the session go to the requested origin, and not to the target of its redirect")
    func redirectedElsewhere() async throws {
        let bench = try Workbench()
        let other = try ScriptedServer()
        other["/there"] = Reply("there")
        bench.server["/here"] = Reply.redirect(to: "/next")
        bench.server["/next"] = Reply.redirect(to: other.url("/there").absoluteString)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = [
            "Authorization": "Bearer mine", "X-Api-Key": "secret", "X-App": "gallery",
        ]
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/here")))
        #expect(bench.server.requests.map { $0["Authorization"] } == ["Bearer mine", "Bearer mine"])
        #expect(bench.server.requests.map { $0["X-Api-Key"] } == ["secret", "secret"])
        #expect(other.requests.map { $0["Authorization"] } == [nil])
        #expect(other.requests.map { $0["X-Api-Key"] } == [nil])
        #expect(other.requests.map { $0["X-App"] } == ["gallery"])
        #expect(configuration.httpAdditionalHeaders?.count == 3, "the caller's configuration stays as it was")
    }

    @Test("of a request go before those of the session")
    func ofRequest() async throws {
        let bench = try Workbench()
        bench.server["/a"] = Reply("a")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Authorization": "Bearer session"]
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        var request = URLRequest(url: bench.server.url("/a"))
        request.setValue("Bearer request", forHTTPHeaderField: "Authorization")
        _ = try await synchronizer.load(DataResource(request: request))
        #expect(bench.server.requests.map { $0["Authorization"] } == ["Bearer request"])
    }
}
