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
    func storedMeanwhile() throws {
        let processes = processes(2)
        _ = processes[0].load(try request())
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        clock.advance(by: 100)
        let loads = try processes.map { $0.load(try request()) }
        #expect(loads[1].fetch?.storedMeanwhile()?.body == Data("hello".utf8))
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
}
