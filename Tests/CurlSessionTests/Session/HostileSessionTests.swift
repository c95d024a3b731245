import CurlSession
import Foundation
import FoundationNetworking
import HostileServer
import ScriptedServer
import TestTraits
import Testing

/// What a session without the library on top gives for each case of the table in `Documentation/Linux.md`.
@Suite("Hostile servers, met by a session", .bounded)
struct HostileSessionTests {
    @Test("each case ends as the table says", arguments: HostileCase.all)
    func outcome(hostile: HostileCase) async throws {
        let server = try ScriptedServer()
        hostile.install(on: server, at: "/case")
        let configuration = URLSessionConfiguration.ephemeral
        if hostile.wait == .loadTimeout { configuration.timeoutIntervalForResource = 1 }
        let client = HostileClient(configuration)
        defer { client.session.invalidateAndCancel() }
        var request = URLRequest(url: server.url("/case"))
        request.httpMethod = hostile.method
        if hostile.method == "POST" { request.httpBody = Data(count: 8 << 20) }
        if hostile.sessionOutcome == .error(.timedOut), hostile.wait != .loadTimeout { request.timeoutInterval = 1 }
        let outcome = try await client.load(request)
        // A redirect that leads nowhere is the response, as `URLSession` has it; Synchronizer makes an error of it.
        let isUnfollowed = outcome == .response(status: 302, body: Data("moved".utf8))
        #expect(outcome == hostile.sessionOutcome || (isUnfollowed && hostile.row.hasPrefix("Redirects")), "\(outcome)")
    }

    @Test("late bytes after a response are not the response to the next request")
    func lateBytes() async throws {
        let server = try ScriptedServer()
        let (late, sent) = (Gate(), Gate())
        server["/first"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"), .wait(late),
            .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"), .wait(sent))
        server["/second"] = Reply("second")
        let client = HostileClient(.ephemeral)
        defer { client.session.invalidateAndCancel() }
        #expect(try await client.load(URLRequest(url: server.url("/first"))) == .text("first"))
        late.open()
        try await sent.waitForArrivals()
        sent.open()
        #expect(try await client.load(URLRequest(url: server.url("/second"))) == .text("second"))
        #expect(server.counts.connectionsOpened == 2)
    }

    @Test(
        "a POST on a connection that the server closes is sent whole or not at all",
        arguments: [Reply.Piece.close, .reset])
    func closedConnection(ending: Reply.Piece) async throws {
        let server = try ScriptedServer()
        let body = Data("the body".utf8)
        server["/first"] = Reply("first")
        server.enqueue(.script(ending), for: "/post")
        server["/post"] = Reply("posted")
        let client = HostileClient(.ephemeral)
        defer { client.session.invalidateAndCancel() }
        #expect(try await client.load(URLRequest(url: server.url("/first"))) == .text("first"))
        var request = URLRequest(url: server.url("/post"))
        request.httpMethod = "POST"
        request.httpBody = body
        let outcome = try await client.load(request)
        #expect(outcome == .error(.networkConnectionLost) || outcome == .text("posted"))
        #expect(server.requests.dropFirst().allSatisfy { $0.body == body })
    }

    @Test("loads that are cancelled while redirects arrive end once, with an error or a response")
    func cancelledRedirects() async throws {
        let server = try ScriptedServer()
        server.handle("/again") { request in
            request.number % 4 == 3 ? Reply("end") : .redirect(to: "/again?\(request.number)")
        }
        let client = HostileClient(.ephemeral)
        defer { client.session.invalidateAndCancel() }
        for number in 0..<300 {
            let requests = server.counts.requests
            let load = client.start(URLRequest(url: server.url("/again")))
            try await server.wait(for: "requests") {
                $0.requests >= requests + 1 + number % 3 || $0.requests > requests
            }
            load.task.cancel()
            _ = try await load.outcome()
        }
        #expect(client.unexpectedCalls == 0)
    }

    @Test("a bomb whose delegate waits does not hold up the other loads of its session")
    func bombAndOthers() async throws {
        let server = try ScriptedServer()
        let bomb = try #require(HostileCase.all.first { $0.row == "A body that inflates to 10 GB" })
        bomb.install(on: server, at: "/bomb")
        server["/other"] = Reply("other")
        let client = HostileClient(.ephemeral, limit: nil)
        defer { client.session.invalidateAndCancel() }
        let load = client.start(URLRequest(url: server.url("/bomb")))
        try await load.waitForData()
        for _ in 0..<50 { #expect(try await client.load(URLRequest(url: server.url("/other"))) == .text("other")) }
        load.task.cancel()
        #expect(try await load.outcome() == .error(.cancelled))
    }
}
