import Foundation
import HTTPCaching
@testable import Synchronizer
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@Suite("Leases: of all processes that need a response, one asks", .bounded)
struct LeaseTests: LeaseFixture {
    let store = FakeLeases()
    let clock = ManualClock()

    // MARK: - The result

    @Test("the others wait, and are answered by what it stored; also when a stored response has expired")
    func oneAsks() throws {
        let processes = processes(3)
        for round in 1...2 {
            let loads = try processes.map { $0.load(try request()) }
            #expect(loads.map(\.waits) == [0, 1, 1] && store.waiting == 2 && store.held == 1)
            #expect(sent(processes) == [round, 0, 0])
            let reply = round == 1 ? FakeReply(200, FakeProcess.fresh, "hello") : FakeReply(304, FakeProcess.fresh)
            processes[0].transport.release(reply)
            #expect(loads.map(\.body) == ["hello", "hello", "hello"])
            #expect(loads.map(\.source) == [round == 1 ? .network : .revalidated, .cache, .cache])
            #expect(sent(processes) == [round, 0, 0] && store.held == 0 && store.waiting == 0)
            clock.advance(by: 100)
        }
    }

    @Test("without leases each asks", arguments: [true, false])
    func withoutLeases(isUnavailable: Bool) throws {
        if isUnavailable { store.becomeUnavailable() }
        let processes = (0..<3).map { _ in process(leases: isUnavailable ? RequestLeases() : nil) }
        for process in processes { process.transport.hold() }
        let loads = try processes.map { $0.load(try request()) }
        #expect(sent(processes) == [1, 1, 1])
        for process in processes { process.transport.release(FakeReply(200, FakeProcess.fresh, "hello")) }
        #expect(loads.map(\.body) == ["hello", "hello", "hello"] && loads.map(\.waits) == [0, 0, 0])
        #expect(store.requests == (isUnavailable ? 3 : 0))
    }

    /// Results that answer no other load, and how many leases the next load takes, and one after a minute.
    static let useless: [(FakeReply, Int, Int)] = [
        (FakeReply(200, ["Cache-Control": "no-store"], "mine"), 0, 1),
        (FakeReply(200, ["Cache-Control": "max-age=0", "ETag": "\"1\""], "mine"), 0, 0),
        (FakeReply(200, ["Vary": "*"], "mine"), 0, 1), (FakeReply(404, ["Cache-Control": "no-store"]), 0, 1),
        (FakeReply(500), 1, 1), (.failure(.timedOut), 1, 1), (.failure(.cannotConnectToHost), 1, 1),
    ]

    @Test("a result that answers no other releases it, and all others ask at once", arguments: useless)
    func releasesAtOnce(reply: FakeReply, next: Int, later: Int) throws {
        let processes = processes(4)
        let loads = try processes.map { $0.load(try request()) }
        #expect(sent(processes) == [1, 0, 0, 0])
        processes[0].transport.release(reply)
        #expect(loads[0].isOver && sent(processes) == [1, 1, 1, 1])
        for process in processes[1...] { process.transport.release(reply) }
        #expect(loads.allSatisfy(\.isOver) && store.held == 0 && store.waiting == 0)
        #expect(loads.map(\.waits) == [0, 1, 1, 1])

        // The first process remembers that for a minute.
        let before = store.requests
        _ = processes[0].load(try request())
        #expect(store.requests - before == next)
        processes[0].transport.release(reply)
        clock.advance(by: 61)
        _ = processes[0].load(try request())
        #expect(store.requests - before == next + later)
    }

    @Test("a response that can be shared takes leases again")
    func sharedAgain() throws {
        let process = process()
        for (fields, requests) in [(["Cache-Control": "no-store"], 1), (FakeProcess.fresh, 1), (FakeProcess.fresh, 2)] {
            process.transport.serve { _ in FakeReply(200, fields, "x") }
            _ = process.load(try request())
            #expect(store.requests == requests)
            store.removeAll()
        }
    }

    // MARK: - The holder

    @Test("if it dies, one of the others takes over, and the rest wait for that one")
    func death() throws {
        let processes = processes(4)
        let loads = try processes.map { $0.load(try request()) }
        store.expire()
        #expect(sent(processes) == [1, 1, 0, 0] && store.waiting == 2 && store.held == 1)
        processes[1].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        #expect(loads.map(\.body) == [nil, "hello", "hello", "hello"] && sent(processes) == [1, 1, 0, 0])
    }

    @Test("a late one gets its response, and replaces no newer one", arguments: [200, 304])
    func late(status: Int) throws {
        let processes = processes(2)
        let first = processes[0].load(try request())
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "old"))
        #expect(first.body == "old")
        clock.advance(by: 100)
        let loads = try processes.map { $0.load(try request()) }
        clock.advance(by: 1)
        store.expire()
        clock.advance(by: 1)
        processes[1].transport.release(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"2\""], "newer"))
        let late =
            status == 200
            ? FakeReply(200, FakeProcess.fresh, "late") : FakeReply(304, ["Cache-Control": "max-age=9000"])
        processes[0].transport.release(late)
        #expect(store.responses.bodies == ["newer"] && store.responses.all[0].fields["Cache-Control"] == "max-age=60")
        if status == 304 {
            // The body that a late 304 confirms is gone, so the request is sent again. This answer is the newest.
            processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "late"))
            #expect(store.responses.bodies == ["late"])
        } else {
            #expect(!loads[0].isStored && loads[0].fetched?.trace.storing == .notStored(.invalidated))
            // That says nothing about the next response, for which this process takes a lease again.
            let requests = store.requests
            store.removeAll()
            _ = processes[0].load(try request())
            #expect(store.requests == requests + 1)
        }
        #expect(loads.map(\.body) == ["late", "newer"])
    }

    @Test("responses that take longer than a lease are stored, while other processes take the next leases")
    func slow() throws {
        let processes = processes(2)
        var loads = try processes.map { $0.load(try request()) }
        for round in 0..<6 {
            clock.advance(by: 5)
            store.expire()
            clock.advance(by: 3)
            let process = round % 2
            processes[process].transport.release(FakeReply(200, ["Cache-Control": "max-age=9"], "\(round)"))
            #expect(loads[process].body == "\(round)" && loads[process].isStored)
            #expect(store.responses.bodies == ["\(round)"])
            clock.advance(by: 10)
            loads[process] = processes[process].load(try request())
        }
    }

    @Test("after an own removal a load waits for no request that may have been sent before", arguments: [true, false])
    func ownRemoval(isEverything: Bool) throws {
        let processes = processes(3)
        _ = processes[0].load(try request())
        clock.advance(by: 1)
        if isEverything {
            processes[1].fetcher.removeAllStored()
        } else {
            _ = processes[1].load(try request { $0.httpMethod = "POST" })
            processes[1].transport.release(FakeReply(200, [:], "done"))
        }
        let loads = try processes[1...].map { $0.load(try request()) }
        #expect(loads.map(\.waits) == [0, 1] && processes[1].transport.held.count == 1)
        processes[1].transport.release(FakeReply(200, FakeProcess.fresh, "new"))
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "old"))
        #expect(loads.map(\.body) == ["new", "new"] && store.responses.bodies == ["new"])
        // After a while it waits again.
        clock.advance(by: 100)
        _ = processes[0].load(try request())
        #expect(processes[1].load(try request()).waits == 1)
    }

    @Test("one that takes longer than the others wait is not waited for")
    func limit() throws {
        let processes = processes(3)
        let loads = try processes.map { $0.load(try request()) }
        clock.advance(by: RequestLeases().duration)
        store.expire()  // another takes over
        #expect(sent(processes) == [1, 1, 0] && loads[2].waits == 2)
        clock.advance(by: RequestLeases().duration)  // ten seconds by now
        store.expire()
        #expect(sent(processes) == [1, 1, 1] && store.held == 0)
        processes[2].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        #expect(loads[2].body == "hello" && store.responses.bodies == ["hello"])
    }

    @Test("limits without end are limits of an hour", arguments: [.infinity, 1e300, 1e12])
    func endless(seconds: Double) throws {
        var limits = RequestLeases()
        (limits.duration, limits.maximumWait) = (seconds, seconds)
        let processes = (0..<3).map { _ in process(leases: limits) }
        for process in processes { process.transport.hold() }
        let loads = try processes.map { $0.load(try request()) }
        #expect(sent(processes) == [1, 0, 0] && loads.map(\.waits) == [0, 1, 1] && store.waiting == 2)
        clock.advance(by: 3599)
        store.expire()
        #expect(sent(processes) == [1, 1, 0])
        clock.advance(by: 1)
        store.expire()
        #expect(sent(processes) == [1, 1, 1])
    }

    @Test("looks up again before it asks, if another process may have stored the response")
    func afterAnother() throws {
        let processes = processes(2)
        store.grantAsIfAfterAnother()
        let first = processes[0].load(try request())
        #expect(sent(processes) == [1, 0] && store.responses.lookups == 2)
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        #expect(first.body == "hello" && store.held == 0)
        clock.advance(by: 100)
        // Another process asks and is answered between the lookup of this one and its lease.
        let request = try request()
        store.beforeGrant { [processes] in
            _ = processes[0].load(request)
            processes[0].transport.release(FakeReply(304, FakeProcess.fresh))
        }
        let second = processes[1].load(request)
        #expect(second.source == .cache && sent(processes) == [2, 0] && store.held == 0)
    }

    @Test("a hit asks for no lease")
    func hit() throws {
        let processes = processes(2)
        let first = processes[0].load(try request())
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        #expect(first.body == "hello" && store.requests == 1)
        for process in processes { #expect(process.load(try request()).source == .cache) }
        #expect(store.requests == 1 && sent(processes) == [1, 0])
    }

    @Test("is not asked while a response may be used stale: one validates it, and no load waits")
    func staleWhileRevalidate() throws {
        let processes = processes(
            3, CacheRules(staleWhileRevalidate: 1000, staleIfError: 0, staleIfUnreachable: .infinity))
        let first = processes[0].load(try request())
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        #expect(first.body == "hello")
        clock.advance(by: 100)
        for _ in 0..<2 {
            let loads = try processes.map { $0.load(try request()) }
            #expect(loads.map(\.body) == ["hello", "hello", "hello"] && loads.map(\.waits) == [0, 0, 0])
            #expect(loads.map(\.source) == [.stale, .stale, .stale] && sent(processes) == [2, 0, 0])
        }
        // One that wants the validated response waits for the process that validates.
        let patient = processes[1].load(try request()) { $0.awaitsRefresh = true }
        #expect(patient.waits == 1 && store.waiting == 1)
        processes[0].transport.release(FakeReply(304, FakeProcess.fresh))
        #expect(patient.source == .cache && sent(processes) == [2, 0, 0] && store.held == 0)
    }

    @Test("validates by itself for a load that wants the validated response", arguments: [false, true])
    func awaitedRefresh(isAfterAnother: Bool) throws {
        let processes = processes(
            2, CacheRules(staleWhileRevalidate: 1000, staleIfError: 0, staleIfUnreachable: .infinity))
        _ = processes[0].load(try request())
        processes[0].transport.release(FakeReply(200, FakeProcess.fresh, "hello"))
        if isAfterAnother { store.grantAsIfAfterAnother() }
        clock.advance(by: 100)
        let patient = processes[0].load(try request()) { $0.awaitsRefresh = true }
        let other = processes[1].load(try request()) { $0.awaitsRefresh = true }
        #expect(sent(processes) == [2, 0] && other.waits == 1)
        processes[0].transport.release(FakeReply(304, FakeProcess.fresh))
        #expect(patient.source == .revalidated && other.source == .cache && store.held == 0)
        clock.advance(by: 100)
        _ = processes[0].load(try request())  // in the background
        #expect(sent(processes) == [3, 0] && store.held == 1)
        processes[0].transport.release(FakeReply(304, FakeProcess.fresh))
        #expect(store.held == 0)
        #expect(processes[1].load(try request()).source == .cache)
    }

    // MARK: - Decisions

    @Test("the decisions")
    func decisions() {
        var limits = RequestLeases()
        limits.maximumWait = 10
        let (lease, later) = (Lease(key: "k", token: 1, followsAnother: false), Lease(key: "k", token: 2))
        let table: [(LeaseAnswer, TimeInterval, LeaseDecision)] = [
            (.granted(lease), 0, .send(lease)), (.granted(later), 0, .lookUp(later)),
            (.unavailable, 0, .send(nil)), (.held, 0, .wait(10)), (.held, 4, .wait(6)), (.held, 10, .send(nil)),
            (.granted(lease), 11, .send(lease)),
        ]
        for (answer, total, decision) in table {
            var waited = LeaseWait()
            waited.total = total
            #expect(LeaseDecision(answer, after: waited, limits: limits) == decision)
            for end in [LeaseEnd.released, .vacant, nil] {
                waited.end = end
                #expect(waited.asks(limits: limits) == (end != .released && total < 10))
            }
        }
    }
}
