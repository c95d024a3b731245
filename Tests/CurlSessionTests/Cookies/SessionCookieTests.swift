import Foundation
import FoundationNetworking
import ScriptedServer
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct SessionCookieTests {
    @Test func `cookies of all responses, redirects too, are sent from then on and are in the storage`() async throws {
        let configuration = Configured()
        let bench = try Bench(configure: configuration.keep)
        bench.server["/start"] = Reply.redirect(to: "/next").adding("Set-Cookie", value: "a=1; Path=/")
        bench.server["/next"] = Reply("", status: 404).adding("set-cookie", value: "b=2")
            .adding("Set-Cookie", value: "c=3; Path=/x")
        await bench.run("/start")
        await bench.run("/x")
        #expect(bench.server.requests.map { $0["Cookie"] } == [nil, "a=1", "c=3; a=1; b=2"])
        #expect(configuration.storage?.cookies?.count == 3)
    }

    @Test func `the storage is seen when the delegate is told of the response`() async throws {
        let configuration = Configured()
        let recorder = Recorder(disposing: { _, decide in
            decide(configuration.storage?.cookies?.count == 1 ? .allow : .cancel)
        })
        let bench = try Bench(recorder, configure: configuration.keep)
        bench.server["/"] = Reply("").adding("Set-Cookie", value: "a=1")
        await bench.run()
        #expect(recorder.calls == [.head(200), .end(nil)])
    }

    @Test func `who wants no cookies sends and keeps none`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("").adding("Set-Cookie", value: "a=1")
        await bench.run { $0.httpShouldHandleCookies = false }
        await bench.run()
        await bench.run { $0.httpShouldHandleCookies = false }
        await bench.run { $0.setValue("mine=1", forHTTPHeaderField: "Cookie") }
        #expect(bench.server.requests.map { $0["Cookie"] } == [nil, nil, nil, "mine=1"])
        for change: @Sendable (URLSessionConfiguration) -> Void in [
            { $0.httpShouldSetCookies = false }, { $0.httpCookieAcceptPolicy = .never }, { $0.httpCookieStorage = nil },
        ] {
            let bench = try Bench(configure: change)
            bench.server["/"] = Reply("").adding("Set-Cookie", value: "a=1")
            await bench.run()
            await bench.run()
            #expect(bench.server.requests.map { $0["Cookie"] } == [nil, nil])
        }
    }

    @Test func `3,000 cookies in a response do not hold up another load`() async throws {
        let bench = try Bench()
        var reply = Reply("")
        for index in 0..<3000 {
            reply = reply.adding("Set-Cookie", value: "c\(index)=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT")
        }
        bench.server["/"] = reply
        bench.server["/other"] = Reply("")
        await bench.run()
        await bench.run("/other")
        #expect(bench.server.requests.last?["Cookie"]?.split(separator: ";").count == 180)
    }
}

/// The storage of a session's configuration.
final class Configured: @unchecked Sendable {  // set once, before the session is used
    private(set) var storage: HTTPCookieStorage?

    func keep(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpCookieStorage
    }
}
