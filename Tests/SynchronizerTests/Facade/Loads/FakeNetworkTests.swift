import Foundation
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("A network that a protocol class fakes", .bounded)
struct FakeNetworkTests {
    @Test("answers the requests that it claims, and its responses are cached like others")
    func faked() async throws {
        let bench = try Workbench()
        let synchronizer = bench.synchronizer { $0.sessionConfiguration.protocolClasses = [FakeNetwork.self] }
        let resource = DataResource(url: try #require(URL(string: "http://fake.test/a")))
        let first = try await synchronizer.loaded(resource)
        #expect(first.object == Data("faked".utf8) && first.source == .network)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(resource).source == .cache)
    }

    @Test("leaves other requests to the network")
    func others() async throws {
        let bench = try Workbench()
        bench.server["/a"] = .init("real")
        let synchronizer = bench.synchronizer { $0.sessionConfiguration.protocolClasses = [FakeNetwork.self] }
        #expect(try await synchronizer.load(DataResource(url: bench.server.url("/a"))) == Data("real".utf8))
    }
}

/// Answers all requests to one host.
private final class FakeNetwork: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "fake.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Cache-Control": "max-age=100"])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("faked".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
}
