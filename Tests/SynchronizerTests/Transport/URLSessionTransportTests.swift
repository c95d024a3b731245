import Foundation
import HTTPCaching
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The transport over URLSession", .bounded)
struct URLSessionTransportTests {
    let server: ScriptedServer
    let transport: URLSessionTransport

    init() throws {
        server = try ScriptedServer()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        transport = URLSessionTransport(
            configuration: configuration, delegate: SessionDelegate())
    }

    /// All events of a request, to its end.
    func events(of request: URLRequest, _ other: URLSessionTransport? = nil) async -> [TransferEvent] {
        let events = Locked<[TransferEvent]>([])
        return await withCheckedContinuation { continuation in
            _ = (other ?? transport).send(request) { event in
                events.withLock { $0.append(event) }
                if case .finished = event { continuation.resume(returning: events.withLock { $0 }) }
            }
        }
    }

    @Test("adds the same fields to a request whose cookies are known", arguments: [[:], ["A": "1"], ["Cookie": "b=2"]])
    func knownCookies(additional: [String: String]) throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = additional
        let transport = URLSessionTransport(configuration: configuration, delegate: SessionDelegate())
        let request = URLRequest(url: server.url("/a"))
        for _ in 0..<2 {
            let cookies = transport.sessionCookies(for: request)
            #expect(
                transport.sessionHeaders(for: request, knowing: cookies) == transport.sessionHeaders(for: request))
            configuration.httpCookieStorage?.setCookie(
                try #require(
                    HTTPCookie(properties: [.name: "a", .value: "1", .domain: "127.0.0.1", .path: "/"])))
        }
        #expect(transport.sessionCookies(for: request) == "a=1")
    }

    @Test("a response in one language does not answer after the user has chosen another (RFC 9111 §4.1)")
    func languages() {
        let languages = Locked(["en-US"])
        func transport(_ additional: [String: String]) -> URLSessionTransport {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = additional
            return URLSessionTransport(configuration: configuration, delegate: SessionDelegate()) {
                languages.withLock { $0 }
            }
        }
        func request(_ transport: URLSessionTransport, _ own: String? = nil) -> CacheRequest {
            var request = URLRequest(url: server.url("/a"))
            if let own { request.setValue(own, forHTTPHeaderField: "Accept-Language") }
            return CacheRequest(
                request, url: server.url("/a"), sessionHeaders: transport.sessionHeaders(for: request), isOffline: false
            )
        }
        let (implied, additional) = (transport([:]), transport(["accept-language": "fr"]))
        let before = [request(implied), request(implied, "de"), request(additional)]
        #expect(request(implied) == before[0] && request(implied) != request(implied, "en-US"))
        languages.withLock { $0 = ["de", "en-US"] }
        let after = [request(implied), request(implied, "de"), request(additional)]
        let vary = HTTPFields([("Vary", "Accept-Language")])
        let selects = zip(before, after).map { then, now in
            CacheRules.selectingFields(of: then, for: vary) == CacheRules.selectingFields(of: now, for: vary)
        }
        #expect(selects == [false, true, true], "a list of the request or the configuration is sent as it is")
        #expect(CacheRules.selectingFields(of: after[2], for: vary)["Accept-Language"] == "fr")
    }

    @Test("reports the head, the body and the end")
    func whole() async {
        server["/a"] = Reply(Data(repeating: 7, count: 100_000), fields: ["X-Test": "1"])
        let events = await events(of: URLRequest(url: server.url("/a")))
        guard case .response(let head)? = events.first, case .finished(nil)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(head.value(of: "X-Test") == "1")
        #expect(events.body == Data(repeating: 7, count: 100_000))
    }

    @Test("a plain delegate decides with its lifetime alone, a subclass with a response", arguments: [false, true])
    func willCache(isSubclass: Bool) async throws {
        let delegate = isSubclass ? CountingDelegate(cacheTime: 60) : SessionDelegate(cacheTime: 60)
        let transport = URLSessionTransport(configuration: .ephemeral, delegate: delegate)
        let transfer = transport.send(URLRequest(url: server.url("/a"))) { _ in }
        let head = ResponseHead(
            url: server.url("/a"), status: 200, fields: HTTPFields([("A", "1"), ("a", "2"), ("Set-Cookie", "x")]))
        let decision = await withCheckedContinuation { continuation in
            transfer.willCache(head, body: Data("hello".utf8), cacheTime: nil) { continuation.resume(returning: $0) }
        }
        switch decision {
        case .proposed(injecting: "max-age=60"): #expect(!isSubclass)
        case .replaced(let cached, hasOtherHead: true):
            #expect(isSubclass && cached.data == Data("hello".utf8))
            let response = try #require(cached.response as? HTTPURLResponse)
            #expect(response.value(forHTTPHeaderField: "Cache-Control") == "max-age=60")
            #expect(response.value(forHTTPHeaderField: "A") == "1, 2")
        default: Issue.record("\(decision)")
        }
        transfer.cancel()
    }

    @Test("a subclass of the delegate sees the session's events, and passes them on with all field lines")
    func watched() async throws {
        let delegate = CountingDelegate()
        let transport = URLSessionTransport(configuration: .ephemeral, delegate: delegate)
        server["/a"] = Reply("hello", fields: ["X-Test": "1"])
        let events = await events(of: URLRequest(url: server.url("/a")), transport)
        #expect(events.body == Data("hello".utf8) && events.head?.fields["X-Test"] == "1")
        #expect(delegate.responses.withLock { $0 } == 1 && delegate.count.withLock { $0 } == 1)
    }

    @Test("a redirect is reported, not followed", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async {
        server["/a"] = Reply("moved", status: status, fields: ["Location": "/b"])
        server["/b"] = Reply("there")
        let events = await events(of: URLRequest(url: server.url("/a")))
        #expect(events.status == status)
        #expect(server.requests.map(\.target) == ["/a"])
    }

    @Test("a redirect that leads nowhere is reported with its head", arguments: [301, 302, 303, 307, 308])
    func redirectWithoutLocation(status: Int) async {
        server["/a"] = Reply("moved", status: status)
        let events = await events(of: URLRequest(url: server.url("/a")))
        #expect(events.status == status)
        guard case .finished(nil)? = events.last else {
            Issue.record("\(events)")
            return
        }
    }

    @Test(
        "a hostile Location is no more than a redirect to nowhere",
        arguments: [
            "", "//", "///", "http:", "http://", "://", "?", "#", "%", "%zz", "\\\\", "http://[::1",
            "http://a:99999999999/",
            "//h:-1/x", "/\u{7f}", "mailto:a@b", "file:///etc/passwd", "data:,x", "javascript:1", "//user:pass@/",
            "/a?%%%",
            "//a b/c", "http://a/?q=\"<>^`{|}", "..%2f..", "//xn--/",
        ])
    func hostileLocations(location: String) async {
        server["/a"] = Reply("moved", status: 302, fields: ["Location": location])
        let events = await events(of: URLRequest(url: server.url("/a")))
        guard case .finished? = events.last else {
            Issue.record("\(location): \(events)")
            return
        }
    }

    @Test("the work at the end of a transfer delays no other transfer's body")
    func ends() async throws {
        let delegate = CountingDelegate()
        let transport = URLSessionTransport(configuration: .ephemeral, delegate: delegate)
        for path in ["/a", "/b", "/c"] { server[path] = Reply("hello") }
        func send(_ path: String, _ receive: @escaping @Sendable (TransferEvent) -> Void) {
            _ = transport.send(URLRequest(url: server.url(path)), receive: receive)
        }
        let (heard, turn) = (Collector<String>(), DispatchSemaphore(value: 0))
        send("/a") { event in
            if case .finished = event { turn.wait() }
        }
        try await waitUntil("the end of the first") { delegate.count.withLock { $0 } == 1 }
        defer { turn.signal() }
        send("/b") { event in
            if case .finished(let error) = event { heard.append(error.map { "\($0)" } ?? "the end") }
        }
        try await waitUntil("the end of the second") { delegate.count.withLock { $0 } == 2 }
        send("/c") { event in
            if case .data = event { heard.append("the third") }
        }
        try await waitUntil("the third's body") { heard.elements == ["the third"] }
        turn.signal()
        try await waitUntil("the second's end") { heard.elements.count == 2 }
        #expect(heard.elements == ["the third", "the end"])
    }

    @Test("a cancelled transfer reports nothing more, and the server sees the connection close")
    func cancel() async throws {
        let gate = Gate()
        server["/a"] = Reply(Data(repeating: 7, count: 50_000)).waiting(for: gate, .afterBody(10_000))
        let reported = Locked(0)
        let transfer = transport.send(URLRequest(url: server.url("/a"))) { _ in reported.withLock { $0 += 1 } }
        try await gate.waitForArrivals(1)
        transfer.cancel()
        let before = reported.withLock { $0 }
        try await server.waitUntilConnectionsClosed()
        #expect(reported.withLock { $0 } <= before + 1)
    }

    @Test(
        "a response that breaks off is an error",
        arguments: [
            Reply.Fault.close(.beforeHead), .close(.midHead), .reset(.midHead), .close(.afterHead),
            .close(.afterBody(10)), .reset(.afterBody(10)),
            .badChunkSize(after: 10), .missingChunkEnd, .missingLastChunk,
        ])
    func faults(fault: Reply.Fault) async {
        let isChunked = "\(fault)".lowercased().contains("chunk")
        let reply = Reply(Data(repeating: 7, count: 5_000))
        server["/a"] = (isChunked ? reply.chunked(1_000) : reply).failing(fault)
        let events = await events(of: URLRequest(url: server.url("/a")))
        guard case .finished(.some)? = events.last else {
            Issue.record("\(fault): \(events)")
            return
        }
    }
}

extension [TransferEvent] {
    var body: Data {
        reduce(into: Data()) { body, event in
            if case .data(let data) = event { body.append(data) }
        }
    }

    var head: ResponseHead? {
        for case .response(let head) in self { return head }
        return nil
    }

    var status: Int? { head?.status }
}

/// Counts the responses, and the tasks that the session is done with.
private final class CountingDelegate: SessionDelegate, @unchecked Sendable {  // its own state is Locked
    let count = Locked(0)
    let responses = Locked(0)

    override func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        responses.withLock { $0 += 1 }
        super.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    override func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        count.withLock { $0 += 1 }  // first: the load ends in the next call
        super.urlSession(session, task: task, didCompleteWithError: error)
    }
}
