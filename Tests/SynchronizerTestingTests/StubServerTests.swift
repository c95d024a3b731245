import Foundation
import Synchronizer
import SynchronizerTesting
import TestTraits
import Testing

@Suite("A synchronizer without sockets", .bounded)
struct StubServerTests {
    private func resource(_ target: String) throws -> DataResource {
        DataResource(url: try #require(URL(string: "https://example.com\(target)")))
    }

    @Test("the handler sees each request whole, and answers it")
    func answers() async throws {
        let server = StubServer { request in Reply("\(request.method) \(request.target)") }
        var request = URLRequest(url: try #require(URL(string: "https://example.com:8443/a/%C3%A4?b=c%20d#e")))
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        let configuration = Synchronizer.Configuration.test()
        configuration.sessionConfiguration.httpAdditionalHeaders = ["X-App": "1", "Authorization": "token"]
        let data = try await server.synchronizer(configuration).load(DataResource(request: request))
        #expect(data == Data("POST /a/%C3%A4?b=c%20d".utf8))
        let recorded = try #require(server.requests.first)
        #expect(recorded.url?.host == "example.com" && recorded["Host"] == "example.com:8443")
        #expect(recorded.body == Data("body".utf8) && recorded.queryValue("b") == "c d")
        #expect(recorded["X-App"] == "1" && recorded["Authorization"] == "token")
    }

    @Test("responses are cached, validated and answered from memory as usual")
    func caches() async throws {
        let clock = ManualClock()
        let server = StubServer { _ in
            Reply("hello", fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""]).conditional()
        }
        let synchronizer = server.synchronizer(.test(time: clock))
        let resource = try resource("/a")
        #expect(try await synchronizer.loaded(resource).source == .network)
        #expect(try await synchronizer.loaded(resource).source == .memory)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(resource).source == .cache)
        clock.advance(by: 61)
        #expect(try await synchronizer.loaded(resource).source == .revalidated)
        #expect(server.requests.map { $0["If-None-Match"] } == [nil, "\"1\""])
    }

    @Test("the length of a body is unknown if a real server would not tell it, and no request is the first -1 requests")
    func unknownLength() async throws {
        for (reply, length) in [
            (Reply("hello").chunked(2), nil), (Reply("hello").untilClose(), nil), (Reply("hello"), "5"),
        ] {
            let server = StubServer { _ in reply }
            let loaded = try await server.synchronizer().loaded(resource("/a"))
            #expect(loaded.object == Data("hello".utf8))
            let response = loaded.response as? HTTPURLResponse
            #expect(response?.value(forHTTPHeaderField: "Content-Length") == length)
            #expect(try await server.waitForRequests(-1).isEmpty)
        }
    }

    @Test("two configurations for tests share no cache")
    func separateCaches() async throws {
        let server = StubServer { _ in Reply("hello", fields: ["Cache-Control": "max-age=60"]) }
        for _ in 0..<2 { #expect(try await server.synchronizer().loaded(resource("/a")).source == .network) }
    }

    @Test("a redirect is followed, and arrives here")
    func redirects() async throws {
        let synchronizer = Synchronizer.stub { request in
            request.path == "/a" ? .redirect(to: "https://other.example/b") : Reply(request.url?.absoluteString ?? "")
        }
        #expect(try await synchronizer.load(resource("/a")) == Data("https://other.example/b".utf8))
    }

    @Test("an error of the handler is that of the load")
    func throwsErrors() async throws {
        let synchronizer = Synchronizer.stub { _ in throw URLError(.cannotFindHost) }
        let resource = try resource("/a")
        await #expect {
            try await synchronizer.load(resource)
        } throws: {
            guard case .transport(let error as URLError, _)? = $0 as? SynchronizerError else { return false }
            return error.code == .cannotFindHost
        }
    }

    @Test("a status is an error with its body", arguments: [404, 503])
    func statuses(status: Int) async throws {
        let synchronizer = Synchronizer.stub { _ in Reply("why", status: status) }
        let resource = try resource("/a")
        await #expect {
            try await synchronizer.load(resource)
        } throws: {
            guard case .status(let response, let context)? = $0 as? SynchronizerError else { return false }
            return response.statusCode == status && context.body == Data("why".utf8)
        }
    }

    @Test("a handler that waits is cancelled with its load")
    func cancels() async throws {
        let (arrived, left) = (Gate(), Gate())
        let server = StubServer { _ in
            defer { left.open() }
            try await arrived.wait()
            return Reply("late")
        }
        let cancel = server.synchronizer().loadResource(try resource("/a"), on: .global()) { _ in }
        try await arrived.waitForArrivals()
        cancel()
        try await left.wait()
    }

    @Test(
        "a reply waits at its gates, wherever they are",
        arguments: [Reply.Moment.beforeHead, .midHead, .afterHead, .afterBody(2), .afterBody(100)])
    func gates(moment: Reply.Moment) async throws {
        let gate = Gate()
        let server = StubServer { _ in Reply("hello").waiting(for: gate, moment) }
        let synchronizer = server.synchronizer()
        let resource = try resource("/a")
        let load = Task { try await synchronizer.load(resource) }
        try await gate.waitForArrivals()
        gate.open()
        #expect(try await load.value == Data("hello".utf8))
    }

    @Test("the head and the part of the body before a gate have arrived")
    func progress() async throws {
        let gate = Gate()
        let synchronizer = Synchronizer.stub { _ in Reply("hello").waiting(for: gate, .afterBody(2)) }
        let task = synchronizer.startLoading(try resource("/a")) { _ in }
        for await progress in task.progressUpdates where progress.received == 2 {
            #expect(progress.expected == 5)
            break
        }
        gate.open()
        for await _ in task.progressUpdates {}
        #expect(task.isFinished)
    }

    @Test(
        "a connection that breaks is a transport error",
        arguments: [
            Reply.Fault.close(.beforeHead), .reset(.midHead), .close(.afterHead), .reset(.afterBody(2)),
        ])
    func breaks(fault: Reply.Fault) async throws {
        let synchronizer = Synchronizer.stub { _ in Reply("hello").failing(fault) }
        #expect(try await error(of: synchronizer) as? URLError == URLError(.networkConnectionLost))
    }

    @Test("a connection that breaks after the last byte breaks nothing")
    func breaksLater() async throws {
        let synchronizer = Synchronizer.stub { _ in Reply("hello").failing(.close(.afterBody(5))) }
        #expect(try await synchronizer.load(resource("/a")) == Data("hello".utf8))
    }

    @Test(
        "a reply that needs a connection says so",
        arguments: [Reply.raw("HTTP/1.1 200 OK\r\n\r\n"), Reply("a").failing(.missingLastChunk)])
    func needsConnection(reply: Reply) async throws {
        let synchronizer = Synchronizer.stub { _ in reply }
        #expect(try await error(of: synchronizer) is StubServer.NeedsConnection)
    }

    @Test("a delay is one of the configuration's clock")
    func delays() async throws {
        let clock = ManualClock()
        let synchronizer = Synchronizer.stub(configuration: .test(time: clock)) { _ in Reply("hello").delayed(by: 7) }
        let resource = try resource("/a")
        let load = Task { try await synchronizer.load(resource) }
        try await clock.runTimer(after: 7...7)
        #expect(try await load.value == Data("hello".utf8))
    }

    @Test("an endless body ends at the limit")
    func endless() async throws {
        var configuration = Synchronizer.Configuration.test()
        configuration.maximumResponseSize = 100_000
        let synchronizer = Synchronizer.stub(configuration: configuration) { _ in Reply("x").failing(.endlessBody) }
        let resource = try resource("/a")
        await #expect {
            try await synchronizer.load(resource)
        } throws: {
            if case .tooLarge? = $0 as? SynchronizerError { true } else { false }
        }
    }

    @Test("the session's delegate decides which responses are stored")
    func delegates() async throws {
        final class StoresNothing: SessionDelegate, @unchecked Sendable {  // without state
            override func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask,
                willCacheResponse proposedResponse: CachedURLResponse,
                completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
            ) {
                completionHandler(nil)
            }
        }
        var configuration = Synchronizer.Configuration.test()
        configuration.sessionDelegate = StoresNothing()
        let server = StubServer { _ in Reply("hello", fields: ["Cache-Control": "max-age=60"]) }
        let synchronizer = server.synchronizer(configuration)
        for _ in 0..<2 {
            synchronizer.removeAllObjects()
            #expect(try await synchronizer.loaded(resource("/a")).source == .network)
        }
    }

    @Test("switching the network off ends a request in flight, and cancels its handler")
    func offline() async throws {
        let (arrived, left) = (Gate(), Gate())
        let server = StubServer { _ in
            defer { left.open() }
            try await arrived.wait()
            return Reply("late")
        }
        let synchronizer = server.synchronizer()
        let resource = try resource("/a")
        let load = Task { try await synchronizer.load(resource) }
        try await arrived.waitForArrivals()
        synchronizer.isOffline = true
        await #expect {
            try await load.value
        } throws: {
            if case .notCached? = $0 as? SynchronizerError { true } else { false }
        }
        try await left.wait()
        #expect(server.requests.count == 1)
    }

    @Test("fixed objects are in memory from the start, and everything else is offline")
    func fixed() async throws {
        let (known, unknown) = (try resource("/a"), try resource("/b"))
        let synchronizer = Synchronizer.fixed(FixedObject(Data("fixed".utf8), for: known))
        #expect(synchronizer.cachedObject(for: known) == Data("fixed".utf8))
        #expect(try await synchronizer.loaded(known).source == .memory)
        #expect(synchronizer.cachedObject(for: JSONResource<[Int]>(request: known.request())) == nil)
        await #expect(throws: SynchronizerError.self) { try await synchronizer.load(unknown) }
    }

    private func error(of synchronizer: Synchronizer) async throws -> any Error {
        do {
            _ = try await synchronizer.load(resource("/a"))
            throw CancellationError()
        } catch SynchronizerError.transport(let error, _) {
            return error
        }
    }
}
