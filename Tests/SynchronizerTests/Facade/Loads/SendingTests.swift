import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Requests with a body", .bounded)
struct SendingTests {
    private struct Query: Codable, Sendable {
        var first: Int
        var after = "x"
    }

    let bench: Workbench
    let synchronizer: Synchronizer
    private let count = Locked(0)

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
        bench.server.handle("/q") { [count] request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return Reply("[\(number)]", fields: ["Cache-Control": "max-age=100", "ETag": "\"\(number)\""])
        }
    }

    private func query(
        _ first: Int, method: String = "POST", cacheKey: CacheKey? = .body
    ) throws -> JSONResource<[Int]> {
        try JSONResource(url: bench.server.url("/q"), method: method, body: Query(first: first), cacheKey: cacheKey)
    }

    private func load(_ resource: JSONResource<[Int]>, inMemory: Bool = true) async throws -> [Int] {
        if !inMemory { synchronizer.removeAllObjects() }
        return try await synchronizer.load(resource)
    }

    @Test("JSONResource encodes the body, with your encoder if there is one")
    func encoding() async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        let own = try JSONResource<[Int]>(
            url: bench.server.url("/q"), method: "PUT", body: Query(first: 2), encoder: encoder)
        _ = try await load(query(1, cacheKey: nil))
        _ = try await load(own)
        let requests = bench.server.requests
        #expect(requests.map(\.method) == ["POST", "PUT"])
        #expect(
            requests.map { String(decoding: $0.body, as: UTF8.self) } == [
                #"{"after":"x","first":1}"#, String(decoding: try encoder.encode(Query(first: 2)), as: UTF8.self),
            ])
        #expect(requests.allSatisfy { $0["Content-Type"] == "application/json" && $0["Accept"] == "application/json" })
        #expect(throws: EncodingError.self) {
            try JSONResource<[Int]>(url: bench.server.url("/q"), body: Double.infinity)
        }
    }

    @Test("headers go with a body and with a key, and win over those that the resource sets")
    func headers() async throws {
        let headers = ["Authorization": "Bearer t", "content-type": "application/graphql+json", "Accept": "text/json"]
        let query = try JSONResource<[Int]>(
            url: bench.server.url("/q"), headers: headers, body: Query(first: 1), cacheKey: .body)
        #expect(try await load(query) == [1])
        #expect(try await load(query, inMemory: false) == [1])
        _ = try await synchronizer.load(
            EmptyResource(url: bench.server.url("/q"), method: "PUT", headers: headers, body: Query(first: 1)))
        #expect(bench.server.requests.map(\.method) == ["POST", "PUT"])
        for request in bench.server.requests {
            #expect(headers.allSatisfy { request[$0] == $1 } && request.body == Data(#"{"after":"x","first":1}"#.utf8))
        }
    }

    @Test("a request of one's own can have a key")
    func keyedRequests() async throws {
        var request = URLRequest(url: bench.server.url("/q"))
        request.httpMethod = "POST"
        request.httpBody = Data("{}".utf8)
        let json = JSONResource<[Int]>(request: request, cacheKey: .body)
        #expect(try await load(json) == [1])
        #expect(try await load(json, inMemory: false) == [1])
        let data = DataResource(request: request, cacheKey: "query")
        #expect(try await synchronizer.load(data) == Data("[2]".utf8))
        #expect(try await synchronizer.loaded(data).source == .memory)
        request.httpMethod = "QUERY"
        #expect(DataResource(request: request).identity == DataResource(request: request, cacheKey: .body).identity)
    }

    @Test("a POST without a key is sent each time")
    func unkeyed() async throws {
        #expect(try await load(query(1, cacheKey: nil)) == [1])
        #expect(try await load(query(1, cacheKey: nil)) == [2])
    }

    @Test("a response is reused for the same body, and for no other", arguments: ["POST", "QUERY"])
    func reused(method: String) async throws {
        let key: CacheKey? = method == "QUERY" ? nil : .body
        for inMemory in [true, false] {
            #expect(try await load(query(1, method: method, cacheKey: key), inMemory: inMemory) == [1])
            #expect(try await load(query(2, method: method, cacheKey: key), inMemory: inMemory) == [2])
        }
        let plain = JSONResource<[Int]>(url: bench.server.url("/q"))
        #expect(try await load(plain) == [3], "a GET is another request")
        #expect(try await load(query(1, method: method, cacheKey: key), inMemory: false) == [1])
        #expect(try await load(plain, inMemory: false) == [3])
        bench.clock.advance(by: 200)
        #expect(try await load(query(1, method: method, cacheKey: key)) == [4])
        // With a condition, a POST may fail; that of a QUERY is about its result.
        let conditions = bench.server.requests.compactMap { $0["If-None-Match"] }
        #expect(conditions == (method == "QUERY" ? ["\"1\""] : []))
        #expect(bench.server.requests.allSatisfy { $0["X-Synchronizer-Body-Key"] == nil })
    }

    @Test("a stale QUERY is validated with its body, and sent once more to a server that refuses the condition")
    func validated() async throws {
        bench.server["/v"] = Reply("[1]", fields: ["ETag": "\"1\""]).conditional()
        let query = try JSONResource<[Int]>(url: bench.server.url("/v"), method: "QUERY", body: Query(first: 1))
        #expect(try await load(query) == [1])
        #expect(try await synchronizer.loaded(query).source == .revalidated)
        bench.server.enqueue(Reply(status: 412), Reply("[2]", fields: ["ETag": "\"2\""]), for: "/v")
        #expect(try await load(query) == [2])
        #expect(bench.server.requests.map { $0["If-None-Match"] } == [nil, "\"1\"", "\"1\"", nil])
        let body = Data(#"{"after":"x","first":1}"#.utf8)
        #expect(bench.server.requests.allSatisfy { $0.method == "QUERY" && $0.body == body })
    }

    @Test("the headers that describe the body are part of its key", arguments: ["Content-Type", "Content-Language"])
    func descriptions(name: String) async throws {
        for (value, expected) in [("x/a", "[1]"), ("x/b", "[2]"), ("x/a", "[1]")] {
            var request = URLRequest(url: bench.server.url("/q"))
            request.httpMethod = "QUERY"
            request.httpBody = Data("cat".utf8)
            request.setValue(value, forHTTPHeaderField: name)
            synchronizer.removeAllObjects()
            #expect(try await synchronizer.load(DataResource(request: request)) == Data(expected.utf8))
        }
    }

    @Test("a request that a hook has changed keeps its key", arguments: ["POST", "QUERY"])
    func prepared(method: String) async throws {
        let signing = bench.synchronizer {
            $0.prepare = { request in
                var request = request
                request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
                return request
            }
        }
        let key: CacheKey? = method == "QUERY" ? nil : .body
        for _ in 1...2 {
            #expect(try await signing.load(query(1, method: method, cacheKey: key)) == [1])
            #expect(try await signing.load(query(2, method: method, cacheKey: key)) == [2])
            signing.removeAllObjects()
        }
    }

    @Test("your own key decides, whatever the body")
    func ownKey() async throws {
        #expect(try await load(query(1, cacheKey: "feed")) == [1])
        #expect(try await load(query(2, cacheKey: "feed")) == [1])
        #expect(try await load(query(2, cacheKey: "other")) == [2])
        #expect(try await load(query(1, cacheKey: "feed"), inMemory: false) == [1])
    }

    @Test("equal queries in flight are coalesced, and a failed one is retried")
    func coalesced() async throws {
        let gate = Gate()
        bench.server["/slow"] = Reply("[7]").waiting(for: gate)
        let slow = try JSONResource<[Int]>(url: bench.server.url("/slow"), body: Query(first: 1), cacheKey: .body)
        let loads = (0..<3).map { _ in Task { try await synchronizer.load(slow) } }
        try await waitUntil("all wait") { synchronizer.loader.state.withLock { $0.machine.subscribers.count } == 3 }
        gate.open()
        for load in loads { #expect(try await load.value == [7]) }
        #expect(bench.server.counts.requests == 1)

        let retrying = bench.synchronizer { $0.retry = RetryPolicy() }
        bench.clock.runAtOnce(within: 1)
        bench.server.enqueue(Reply("busy", status: 503), for: "/q")
        #expect(try await retrying.load(query(1)) == [1])
    }

    @Test("a query invalidates nothing; a POST without a key invalidates the URL, queries included")
    func invalidation() async throws {
        let plain = JSONResource<[Int]>(url: bench.server.url("/q"))
        #expect(try await load(plain) == [1])
        #expect(try await load(query(1)) == [2])
        #expect(try await load(query(2)) == [3])
        #expect(try await load(plain, inMemory: false) == [1])
        #expect(try await load(query(1)) == [2])
        #expect(try await load(query(9, cacheKey: nil)) == [4])
        #expect(try await load(plain) == [5])
        #expect(try await load(query(1)) == [6])
    }

    @Test("a response is not reused without a lifetime, which cacheTime can give it")
    func lifetime() async throws {
        bench.server.handle("/q") { [count] _ in
            Reply(
                "[\(count.withLock { $0 += 1; return $0 })]", fields: ["Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"]
            )
        }
        #expect(try await load(query(1)) == [1])
        #expect(try await load(query(1), inMemory: false) == [2])
        let lasting = bench.synchronizer(cacheTime: 100)
        #expect(try await lasting.load(query(1)) == [3])
        lasting.removeAllObjects()
        #expect(try await lasting.load(query(1)) == [3])
    }

    @Test(
        "in native mode, too, the response to a POST is not reused without a lifetime, and that to a QUERY may be",
        arguments: ["POST": 2, "QUERY": 1])
    func native(method: String, requests: Int) async throws {
        let harness = NativeHarness(FakeReply(200, ["Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"], "[1]"))
        let synchronizer = harness.synchronizer()
        let url = try #require(harness.request().url)
        let query = try JSONResource<[Int]>(url: url, method: method, body: Query(first: 1), cacheKey: .body)
        for _ in 1...2 { #expect(try await synchronizer.load(query) == [1]) }
        #expect(harness.session.asked.count == requests)
    }

    @Test("two users never share a query, and a 303 leads to a GET that is stored as such")
    func separation() async throws {
        var request = try query(1).request()
        request.setValue("ann", forHTTPHeaderField: "Authorization")
        struct Personal: Resource {
            let identity: ResourceIdentity
            func request() -> URLRequest { identity.request }
            var parse: @Sendable (Data) throws -> Data { { $0 } }
        }
        let ann = Personal(identity: ResourceIdentity(request, cacheKey: .body))
        request.setValue("bob", forHTTPHeaderField: "Authorization")
        let bob = Personal(identity: ResourceIdentity(request, cacheKey: .body))
        for _ in 0..<2 {
            synchronizer.removeAllObjects()
            #expect(try await synchronizer.load(ann) == Data("[1]".utf8))
            #expect(try await synchronizer.load(bob) == Data("[2]".utf8))
        }
        bench.server["/moved"] = Reply.redirect(to: "/q?get", status: 303)
        let moved = try JSONResource<[Int]>(url: bench.server.url("/moved"), body: Query(first: 1), cacheKey: .body)
        #expect(try await synchronizer.load(moved) == [3])
        #expect(try await load(JSONResource(url: bench.server.url("/q?get"))) == [3])
    }
}
