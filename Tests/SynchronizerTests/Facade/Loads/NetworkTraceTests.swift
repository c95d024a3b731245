import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The network part of a trace", .bounded)
struct NetworkTraceTests {
    /// 100,000 zeros.
    static let gzip = Data(
        base64Encoded: """
            H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
            AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA
            """)

    @Test("is in the trace: the connection, its use, and the bytes on the wire and decoded")
    func trace() async throws {
        let bench = try Workbench()
        bench.server["/a"] = Reply(Data(repeating: 1, count: 5_000))
        let synchronizer = bench.synchronizer()
        let resource = DataResource(url: bench.server.url("/a"))
        let first = try await synchronizer.loaded(resource).trace
        let network = try #require(first.network)
        #expect(network.protocolName == "http/1.1" && network.isConnectionReused == false)
        #expect(network.remoteAddress?.hasPrefix("127.0.0.1") == true)
        #expect(network.connect != nil && network.secureConnection == nil && network.firstByte != nil)
        #expect(first.bytesReceived == 5_000 && network.bytesReceived > 5_000 && network.bytesSent > 0)
        #expect(first.description.contains("http/1.1"))
        let second = try await synchronizer.loaded(resource).trace.network
        #expect(second?.isConnectionReused == true && second?.connect == nil)
    }

    @Test("the limit of a response counts its decoded bytes, and ends it at once")
    func bomb() async throws {
        let bench = try Workbench()
        bench.server["/a"] = Reply(try #require(Self.gzip), fields: ["Content-Encoding": "gzip"])
        let whole = try await bench.synchronizer().loaded(DataResource(url: bench.server.url("/a")))
        #expect(whole.object == Data(count: 100_000) && whole.trace.bytesReceived == 100_000)
        #expect(whole.trace.network.map { $0.bytesReceived < 1_000 } == true)
        let limited = bench.synchronizer { $0.maximumResponseSize = 50_000 }
        let error = await #expect(throws: SynchronizerError.self) {
            try await limited.load(DataResource(url: bench.server.url("/a")))
        }
        guard case .tooLarge(limit: 50_000, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("the body of a redirect is not waited for")
    func redirect() async throws {
        let bench = try Workbench()
        let gate = Gate()
        bench.server["/a"] = Reply(Data(count: 1 << 20), status: 302, fields: ["Location": "/b"])
            .chunked(1 << 20).waiting(for: gate, .afterBody(100_000))
        bench.server["/b"] = Reply("there")
        #expect(try await bench.synchronizer().load(DataResource(url: bench.server.url("/a"))) == Data("there".utf8))
        gate.open()
    }

    @Test("a load task tells how much of the request's body was sent")
    @MainActor func upload() async throws {
        let bench = try Workbench()
        bench.server.handle("/a") { Reply("\($0.body.count)") }
        var request = URLRequest(url: bench.server.url("/a"))
        request.httpMethod = "POST"
        request.httpBody = Data(count: 300_000)
        let answers = Collector<Data>()
        let task = bench.synchronizer().startLoading(DataResource(request: request)) { result in
            if case .success(let data) = result { answers.append(data) }
        }
        try await answers.wait(for: 1)
        #expect(answers.elements == [Data("300000".utf8)])
        #expect(task.progress.sent == 300_000 && task.progress.expectedToSend == 300_000)
    }
}
