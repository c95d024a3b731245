import Foundation
import FoundationNetworking
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct TaskMachineTests {
    @Test func `a task starts once, and pauses and goes on afterwards`() {
        var machine = TaskMachine()
        #expect(machine.resume() == .start)
        #expect(machine.resume() == .nothing)
        #expect(machine.suspend() == .pause)
        #expect(machine.suspend() == .nothing)
        #expect(machine.resume() == .nothing)
        #expect(machine.state == .suspended)
        #expect(machine.resume() == .unpause)
        #expect(machine.state == .running)
    }

    @Test func `a task that is suspended before its start needs as many calls of resume`() {
        var machine = TaskMachine()
        #expect(machine.suspend() == .nothing)
        #expect(machine.resume() == .nothing)
        #expect(machine.resume() == .start)
    }

    @Test func `nothing follows a cancel but one end`() {
        var machine = TaskMachine()
        _ = machine.resume()
        #expect(machine.cancel() == .cancel)
        #expect(machine.state == .canceling)
        #expect(machine.cancel() == .nothing)
        #expect(machine.resume() == .nothing)
        #expect(machine.suspend() == .nothing)
        #expect([machine.complete(), machine.complete()] == [true, false])
        #expect(machine.cancel() == .nothing)
        #expect(machine.state == .completed)
    }

    /// Who sees that a task is complete may read its error at once.
    @Test func `a task is complete together with its error`() throws {
        let url = try #require(URL(string: "http://h/x"))
        var state = TaskCore.State()
        state.currentRequest = URLRequest(url: url)
        _ = state.mailbox.post(.end(URLError(.badServerResponse)))
        #expect(state.machine.state == .suspended && state.error == nil)
        let event = state.next()
        #expect(state.machine.state == .completed && state.error?.code == .badServerResponse)
        #expect(state.error?.failingURL == url)
        guard case .end(let delivered)? = event else {
            Issue.record("the end is not delivered")
            return
        }
        #expect(delivered?.failingURL == url)
        #expect(state.next() == nil)
    }
}

@Suite(.bounded) struct HostSlotsTests {
    @Test func `slots are limited for each host, and given by priority, then in order`() {
        var slots = HostSlots<String>(limit: 1)
        #expect(slots.take("a", priority: 0.5, waiter: "1") == true)
        #expect(slots.take("a", priority: 0.5, waiter: "2") == false)
        #expect(slots.take("a", priority: 0.5, waiter: "3") == false)
        #expect(slots.take("a", priority: 0.75, waiter: "urgent") == false)
        #expect(slots.take("b", priority: 0.5, waiter: "4") == true)
        #expect(slots.takeNext("a") == nil)
        var order: [String?] = []
        for _ in 0..<4 {
            slots.release("a")
            order.append(slots.takeNext("a"))
        }
        #expect(order == ["urgent", "2", "3", nil])
    }

    @Test func `a host that multiplexes has no limit`() {
        var slots = HostSlots<Int>(limit: 1)
        _ = slots.take("a", priority: 0.5, waiter: 0)
        for number in 1...3 { #expect(slots.take("a", priority: 0.5, waiter: number) == false) }
        #expect(slots.setMultiplexed("a") == true)
        #expect(slots.setMultiplexed("a") == false)
        #expect((1...4).map { _ in slots.takeNext("a") } == [1, 2, 3, nil])
        #expect(slots.take("a", priority: 0.5, waiter: 5) == true)
    }
}

extension HostSlotsTests {
    @Test func `on a host that multiplexes, transfers that share no connection leave one for the others`() {
        var slots = HostSlots<Int>(limit: 3)
        for number in 0..<6 { _ = slots.take("a", priority: 0, isAlone: number < 5, waiter: number) }
        _ = slots.setMultiplexed("a")
        #expect((0..<2).map { _ in slots.takeNext("a") } == [5, nil])
        let takesShared = slots.take("a", priority: 0, waiter: 6)
        let takesAlone = slots.take("a", priority: 0, isAlone: true, waiter: 7)
        #expect(takesShared && !takesAlone)
        var order: [Int?] = []
        for _ in 0..<4 {
            slots.release("a", isAlone: true)
            order.append(slots.takeNext("a"))
        }
        #expect(order == [nil, 3, 4, 7])
        slots.release("a", isAlone: false)
        let none = slots.takeNext("a")
        #expect(none == nil)
    }

    @Test func `only the last hosts that speak HTTP-2 are remembered`() {
        var slots = HostSlots<Int>(limit: 1)
        for number in 0..<2_000 {
            _ = slots.take("\(number)", priority: 0, waiter: 0)
            _ = slots.setMultiplexed("\(number)")
            guard number > 0 else { continue }  // the first goes on
            slots.release("\(number)")
            let next = slots.takeNext("\(number)")
            #expect(next == nil)
        }
        #expect((0..<2_000).filter { slots.isMultiplexed("\($0)") } == [0] + Array(1_000..<2_000))
    }

    @Test func `waiters that left are removed`() {
        final class Waiter { var hasLeft = false }
        var slots = HostSlots<Waiter>(limit: 1)
        let waiters = (0..<100).map { _ in Waiter() }
        for waiter in waiters { _ = slots.take("a", priority: 0.5, waiter: waiter) }
        #expect(slots.waiters("a") == 99)
        for waiter in waiters.dropFirst().dropLast() {
            waiter.hasLeft = true
            slots.waiterLeft("a") { $0.hasLeft }
        }
        #expect(slots.waiters("a") < 4)
        slots.release("a")
        var last: Waiter?
        while let next = slots.takeNext("a") {
            last = next
            if next.hasLeft { slots.release("a") }
        }
        #expect(last === waiters.last)
    }
}

@Suite(.bounded) struct DotSegmentsTests {
    @Test(
        arguments: [
            ("/", "/"), ("/a", "/a"), ("/a/../b", "/b"), ("/a/./b/.", "/a/b/"), ("/..", "/"), ("/a/b/..", "/a/"),
            ("/%2E%2e/x", "/x"), ("/a/.%2e/x", "/x"), ("/a/%2e", "/a/"), ("/...", "/..."), ("/.a/..b", "/.a/..b"),
            ("/%2", "/%2"), ("/%2e%2e%2e", "/%2e%2e%2e"), ("//a//../b", "//a/b"), ("/a%2F../b", "/a%2F../b"),
        ])
    func `dot segments are removed`(path: String, expected: String) {
        #expect(DotSegments.removed(from: path) == expected)
    }

    @Test func `many segments are no burden`() {
        #expect(DotSegments.removed(from: String(repeating: "/.", count: 50_000)) == "/")
        #expect(DotSegments.removed(from: String(repeating: "/a", count: 50_000) + "/..").utf8.count == 99_999)
    }

    @Test func `only the path of a URL has dot segments`() {
        #expect(URLReference.target(of: "http://a:1/b/../c?d/../e#/./f") == "http://a:1/c?d/../e#/./f")
        #expect(URLReference.target(of: "http://a?/../x") == "http://a?/../x")
    }
}

@Suite(.bounded) struct URLReferenceTests {
    @Test func `an empty reference is no target`() throws {
        let base = try #require(URL(string: "http://h:1/a/b?c"))
        #expect(URLReference.resolve(" ", against: base) == nil)
    }

    @Test(
        arguments: [
            ("/x", "http://h:1/x"), ("x", "http://h:1/a/x"), ("../x", "http://h:1/x"), ("../../../x", "http://h:1/x"),
            ("?q", "http://h:1/a/b?q"), ("//i/x", "http://i/x"), ("//i", "http://i/"),
            ("https://i", "https://i/"), ("HTTP://i/x", "HTTP://i/x"), ("/a b\"<", "http://h:1/a%20b%22%3C"),
            ("/é", "http://h:1/%C3%A9"), ("\\\\i\\x", "http://i/x"), ("/%2e%2e/x", "http://h:1/x"),
            ("/100%", "http://h:1/100%25"), ("//a%2Db/", "http://a-b/"), ("//[::1]:8/x", "http://[::1]:8/x"),
            ("//i:", "http://i/"), ("ftp://i/x", "ftp://i/x"), (" /x\t", "http://h:1/x"),
            ("./x/./y/", "http://h:1/a/x/y/"),
        ])
    func `a target is resolved`(reference: String, expected: String) throws {
        let base = try #require(URL(string: "http://h:1/a/b?c"))
        #expect(URLReference.resolve(reference, against: base)?.absoluteString == expected)
    }

    @Test(
        arguments: [
            "//a%20b/", "http://", "http:/x", "//%00/", "//a%2Fb/", "//%zz/", "//[::1", "//[x]/", "//i:99999/",
            "//i:x/",
            "//%E2%82/", "http://a%5Bb/", "//%25/", "//a:b:c/",
        ])
    func `a target that is none is refused, and nothing traps`(reference: String) throws {
        let base = try #require(URL(string: "http://h:1/a/b?c"))
        #expect(URLReference.resolve(reference, against: base) == nil)
    }

    @Test func `a fragment is inherited`() throws {
        let base = try #require(URL(string: "http://h/a#f"))
        #expect(URLReference.resolve("/x", against: base)?.absoluteString == "http://h/x#f")
        #expect(URLReference.resolve("/x#g", against: base)?.absoluteString == "http://h/x#g")
    }
}
