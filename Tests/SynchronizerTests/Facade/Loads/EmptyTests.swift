import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Responses without a body", .bounded)
struct EmptyTests {
    let bench: Workbench
    let synchronizer: Synchronizer

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
    }

    private func request(_ method: String, _ target: String) -> URLRequest {
        var request = URLRequest(url: bench.server.url(target))
        request.httpMethod = method
        return request
    }

    @Test("are successes for DataResource and EmptyResource", arguments: ["HEAD", "DELETE", "GET"])
    func accepted(method: String) async throws {
        bench.server["/a"] = Reply(status: method == "DELETE" ? 204 : 200, fields: ["ETag": "\"1\"", "A": "b"])
        #expect(try await synchronizer.load(DataResource(request: request(method, "/a"))).isEmpty)
        let head = try await synchronizer.load(EmptyResource(request: request(method, "/a")))
        #expect(head.status == (method == "DELETE" ? 204 : 200))
        #expect(head.url == bench.server.url("/a") && head.value(of: "etag") == "\"1\"" && head.value(of: "B") == nil)
        #expect((head.urlResponse as? HTTPURLResponse)?.value(forHTTPHeaderField: "A") == "b")
    }

    @Test("fail with noData for other resources, which keeps the response", arguments: ["HEAD", "DELETE", "GET"])
    func refused(method: String) async throws {
        bench.server["/a"] = Reply(status: 204)
        let resource = JSONResource<[Int]>(request: request(method, "/a"))
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
        guard case .noData(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((context.response as? HTTPURLResponse)?.statusCode == 204)
    }

    @Test("may name the length of a large file, which does not follow", arguments: [("HEAD", 200), ("GET", 204)])
    func lengthOfFile(method: String, status: Int) async throws {
        let length = Synchronizer.Configuration().maximumResponseSize + 1
        bench.server["/a"] = .script(.text("HTTP/1.1 \(status) OK\r\nContent-Length: \(length)\r\n\r\n"))
        let head = try await synchronizer.load(EmptyResource(request: request(method, "/a")))
        #expect(head.status == status && head.value(of: "Content-Length") == "\(length)")
        #expect(try await synchronizer.load(DataResource(request: request(method, "/a"))).isEmpty)
    }

    @Test("EmptyResource drops a body that is larger than the limit, and takes the head", arguments: [false, true])
    func largeBody(isStated: Bool) async throws {
        let observer = ObservingTests.Recorder()
        let synchronizer = bench.synchronizer {
            $0.maximumResponseSize = 1_000
            $0.observer = observer
        }
        let url = bench.server.url("/large")
        let large = Reply(Data(count: 100_000), fields: ["N": "1", "Cache-Control": "max-age=9"])
        bench.server["/large"] = isStated ? large : large.chunked(100)
        let loaded = try await synchronizer.loaded(EmptyResource(url: url, method: "GET"))
        #expect(loaded.object.status == 200 && loaded.object.value(of: "N") == "1" && loaded.source == .network)
        #expect(loaded.trace.storing == .notStored(.tooLarge))
        #expect(observer.names.last == "finished")
        await #expect(throws: SynchronizerError.self) { try await synchronizer.load(DataResource(url: url)) }
    }

    @Test("a POST whose response is too large has invalidated what was stored", arguments: [false, true])
    func largePost(acceptsAny: Bool) async throws {
        let synchronizer = bench.synchronizer { $0.maximumResponseSize = 1_000 }
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=100"])
        let resource = DataResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        bench.server.enqueue(Reply(Data(count: 2_000)), for: "/a")
        let post = request("POST", "/a")
        if acceptsAny {
            _ = try await synchronizer.load(EmptyResource(request: post))
        } else {
            await #expect(throws: SynchronizerError.self) { try await synchronizer.load(DataResource(request: post)) }
        }
        #expect(try await synchronizer.loaded(resource).source == .network)
    }

    @Test("share a transfer with loads that do not accept them")
    func shared() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("").waiting(for: gate)
        var request = URLRequest(url: bench.server.url("/a"))
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, json) = (DataResource(request: request), JSONResource<[Int]>(request: request))
        let accepting = Task { try await synchronizer.load(data) }
        let refusing = Task { try await synchronizer.load(json) }
        try await waitUntil("both wait") { synchronizer.loader.state.withLock { $0.machine.subscribers.count } == 2 }
        gate.open()
        #expect(try await accepting.value.isEmpty)
        await #expect(throws: SynchronizerError.self) { try await refusing.value }
        #expect(bench.server.counts.requests == 1)
    }

    @Test("EmptyResource gives the head that the server sent last, although the body is the same")
    func freshHead() async throws {
        bench.server["/a"] = Reply("same", fields: ["Cache-Control": "max-age=10", "N": "1"])
        let resource = EmptyResource(url: bench.server.url("/a"), method: "GET")
        #expect(try await synchronizer.load(resource).value(of: "N") == "1")
        #expect(try await synchronizer.loaded(resource).source == .memory)
        bench.server["/a"] = Reply("same", fields: ["Cache-Control": "max-age=10", "N": "2"])
        bench.clock.advance(by: 20)
        #expect(try await synchronizer.load(resource).value(of: "N") == "2")
    }

    @Test("DELETE invalidates the stored response, and is not coalesced")
    func delete() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=100"])
        let resource = DataResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        bench.server.enqueue(Reply(status: 204), for: "/a")
        _ = try await synchronizer.load(EmptyResource(url: bench.server.url("/a"), method: "DELETE"))
        #expect(try await synchronizer.loaded(resource).source == .network)
    }

    @Test("a result gives its object, or throws")
    func get() throws {
        #expect(try SynchronizerResult<Int>.success(1).get() == 1)
        #expect(throws: URLError.self) { try SynchronizerResult<Int>.error(URLError(.badURL)).get() }
        let error = #expect(throws: SynchronizerError.self) { try SynchronizerResult<Int>.noData.get() }
        guard case .noData? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("answer a request with a JSON body")
    func json() async throws {
        bench.server["/a"] = Reply(status: 204)
        let url = bench.server.url("/a")
        let head = try await synchronizer.load(EmptyResource(url: url, method: "PUT", body: ["b": 1, "a": 2]))
        #expect(head.status == 204)
        let request = try #require(bench.server.requests.first)
        #expect(request.method == "PUT" && request.body == Data(#"{"a":2,"b":1}"#.utf8))
        #expect(request["Content-Type"] == "application/json")
    }
}
