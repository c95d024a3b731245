import Foundation
import HTTPCaching
import Synchronizer
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@Suite("Leases: cancelled loads, redirects, and requests that take none", .bounded)
struct LeasedRequestTests: LeaseFixture {
    let store = FakeLeases()
    let clock = ManualClock()

    @Test("one of the others takes the place of a cancelled holder")
    func cancelHolder() throws {
        let processes = processes(3)
        let loads = try processes.map { $0.load(try request()) }
        loads[0].fetch?.cancel()
        #expect(store.held == 1 && sent(processes) == [1, 1, 0])
    }

    @Test("a load that is cancelled while it waits leaves nothing behind")
    func cancelWaiting() throws {
        let processes = processes(2)
        let loads = try processes.map { $0.load(try request()) }
        loads[1].fetch?.cancel()
        #expect(store.waiting == 0)
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        #expect(!loads[1].isOver && sent(processes) == [1, 0])
    }

    @Test("shows its stored response while it waits")
    func provisional() throws {
        let processes = processes(2)
        _ = processes[0].load(try request())
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        clock.advance(by: 100)
        let loads = try processes.map { $0.load(try request()) }
        #expect(loads[1].fetch?.provisional()?.body == Data("hello".utf8))
    }

    @Test("a response is stored for the cookies that are sent, also if they change while the load asks for a lease")
    func changedCookies() throws {
        let process = process()
        process.transport.imply(["Cookie": "user=one"])
        store.beforeGrant { process.transport.imply(["Cookie": "user=two"]) }
        let fields = FakeProcess.fresh.merging(["Vary": "Cookie"]) { $1 }
        process.transport.serve { _ in FakeReply(200, fields, "two's") }
        #expect(process.load(try request()).body == "two's")
        process.transport.imply(["Cookie": "user=one"])
        process.transport.serve { _ in FakeReply(200, fields, "one's") }
        #expect(process.load(try request()).body == "one's")
        #expect(store.held == 0 && sent([process]) == [2])
    }

    @Test("a background validation is made, also if the cookies change while it asks for its lease")
    func changedCookiesOfValidation() throws {
        let process = process()
        let fields = ["Cache-Control": "max-age=60, stale-while-revalidate=1000", "ETag": "\"1\""]
        process.transport.serve { _ in FakeReply(200, fields, "hello") }
        #expect(process.load(try request()).body == "hello")
        clock.advance(by: 100)
        store.beforeGrant { process.transport.imply(["Cookie": "user=two"]) }
        #expect(process.load(try request()).source == .stale)
        let validators = process.transport.requests.map { $0.value(forHTTPHeaderField: "If-None-Match") }
        #expect(validators == [nil, "\"1\""] && store.held == 0)
    }

    @Test("a redirect ends its lease, and its target takes none: a load that waited would begin again")
    func redirect() throws {
        let process = process()
        let held = Locked<[Int]>([])
        process.transport.serve { [store] request in
            held.withLock { $0.append(store.held) }
            guard request.url?.path == "/from" else { return FakeReply(200, FakeProcess.fresh, "hello") }
            return FakeReply(301, ["Location": "/to", "Cache-Control": "max-age=60"])
        }
        #expect(process.load(try request("http://a.example/from")).body == "hello")
        #expect(held.withLock { $0 } == [1, 0] && store.held == 0)
    }

    @Test("loads that must not wait for each other", arguments: ["POST", "Range", "reload", "no-cache", "file"])
    func without(_ kind: String) throws {
        let process = process()
        process.transport.serve { _ in FakeReply(200, FakeProcess.fresh, "hello") }
        let request = try request { request in
            switch kind {
            case "POST": request.httpMethod = kind
            case "Range": request.setValue("bytes=0-1", forHTTPHeaderField: kind)
            case "reload": request.cachePolicy = .reloadIgnoringLocalCacheData
            case "no-cache": request.setValue(kind, forHTTPHeaderField: "Cache-Control")
            default: break
            }
        }
        let load = process.load(request) { options in
            if kind == "file" { options.file = FileTarget(nil) }
        }
        #expect(store.requests == 0 && load.waits == 0)
    }

    @Test("an anonymous load does not wait for one with a credential, nor one user for another")
    func credentials() throws {
        let processes = processes(3)
        for (process, token) in zip(processes, ["a", "b", nil]) {
            _ = process.load(try request { $0.setValue(token, forHTTPHeaderField: "Authorization") })
        }
        #expect(sent(processes) == [1, 1, 1] && store.held == 3)
    }

    /// Requests whose validation is one that other processes wait for, and that take no leases themselves.
    static let unleased: [@Sendable (inout URLRequest) -> Void] = [
        { $0.setValue("bytes=0-1", forHTTPHeaderField: "Range") }, { $0.httpMethod = "HEAD" },
        { $0.setValue("\"1\"", forHTTPHeaderField: "If-None-Match") },
    ]

    @Test("a load without a lease that wants the validated response validates it itself", arguments: unleased.indices)
    func unleasedRefresh(_ index: Int) throws {
        let processes = processes(
            2, CacheRules(staleWhileRevalidate: 1000, staleIfError: 0, staleIfUnreachable: .infinity))
        _ = processes[0].load(try request())
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        clock.advance(by: 100)
        _ = processes[0].load(try request())  // validates in the background
        let before = store.requests
        let patient = try request("http://a.example/x", Self.unleased[index])
        let load = processes[1].load(patient) { $0.awaitsRefresh = true }
        #expect(sent(processes) == [2, 1] && load.waits == 0 && store.requests == before)
        processes[1].transport.release(FakeReply(304, FakeProcess.fresh))
        #expect(load.isOver)
    }

    /// Heads of responses that answer no other request, and of those that may.
    static let heads: [(Int, [String: String], isUseless: Bool)] = [
        (200, ["Cache-Control": "no-store"], true), (200, ["Cache-Control": "max-age=0"], true),
        (200, ["Cache-Control": "no-cache"], true), (200, ["Vary": "*"], true), (200, [:], true), (500, [:], true),
        (200, ["Cache-Control": "max-age=1"], false), (404, ["Cache-Control": "max-age=1"], false), (401, [:], false),
    ]

    @Test("the others do not wait for the body of a response that answers no other", arguments: heads)
    func uselessHead(status: Int, fields: [String: String], isUseless: Bool) throws {
        let processes = processes(2)
        let loads = try processes.map { $0.load(try request()) }
        let url = try #require(try request().url)
        let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        processes[0].transport.held[0].report(.response(ResponseHead(try #require(head))))
        #expect(sent(processes) == (isUseless ? [1, 1] : [1, 0]) && !loads[0].isOver)
        // The key is still known not to be worth a lease.
        processes[0].transport.held[0].report(.finished(nil))
        let before = store.requests
        if isUseless, status < 400, fields["Cache-Control"] != "no-store" {
            _ = processes[0].load(try request())
            #expect(store.requests == before)
        }
    }
}
