import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestTraits
import Testing

@testable import CurlSession

/// An engine whose clock is moved by hand.
final class TimedEngine: Sendable {
    private let time: Time
    let engine: Engine

    private final class Time: Sendable {
        let now = Locked<UInt64>(1_000_000_000)
    }

    init(_ resolver: Resolver = Resolver()) {
        let time = Time()
        self.time = time
        engine = Engine(clock: EngineClock { time.now.withLock { $0 } }, resolver: resolver)
    }

    deinit {
        engine.stop()
    }

    func advance(_ seconds: Double) {
        move(seconds)
        engine.perform {}
    }

    /// Moves the clock, which the engine sees when it next wakes.
    func move(_ seconds: Double) {
        time.now.withLock { $0 += UInt64(seconds * 1e9) }
    }

    /// Returns when the engine has done what it was told before.
    func settle() async {
        await engine.settle()
    }
}

extension Engine {
    /// Returns when the engine has done what it was told before.
    func settle() async {
        for _ in 0..<2 {
            await withCheckedContinuation { continuation in perform { continuation.resume() } }
        }
    }
}

@Suite(.bounded) struct SessionTimeoutTests {
    @Test func `a server that says nothing times out, a moment after the limit and not before`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) { $0.timeoutIntervalForRequest = 10 }
        bench.server["/"] = Reply().failing(.silence(.beforeHead))
        bench.start()
        try await bench.server.waitForRequests(1)
        clock.advance(9)
        await clock.settle()
        #expect(bench.recorder.calls.isEmpty)
        clock.advance(2)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.end(.timedOut)])
    }

    @Test func `the limit begins when bytes arrive, not when the engine fell asleep before`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) { $0.timeoutIntervalForRequest = 10 }
        let gate = Gate()
        bench.server["/"] = .script(.wait(gate), .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), .hold)
        bench.start()
        try await gate.waitForArrivals()
        await clock.settle()
        clock.move(9)
        gate.open()
        while bench.recorder.body.count < 2 { await Task.yield() }
        clock.advance(9)
        await clock.settle()
        #expect(bench.recorder.calls == [.head(200)])
        clock.advance(2)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.head(200), .end(.timedOut)])
    }

    @Test func `the body of a redirect that is reported has a second where redirects are hurried`() async throws {
        let clock = TimedEngine()
        var options = CurlSession.Options()
        (options.reportsRedirects, options.limitsRedirectBodies) = (true, true)
        let bench = try Bench(options: options, timed: clock) { $0.timeoutIntervalForRequest = 1000 }
        bench.server["/"] = .script(.text("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 5\r\n\r\nhe"), .hold)
        bench.start()
        while bench.recorder.body.count < 2 { await Task.yield() }
        await clock.settle()
        clock.advance(2)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.head(302), .end(.timedOut)])
    }

    @Test func `a request's own limit takes precedence`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) { $0.timeoutIntervalForRequest = 1000 }
        bench.server["/"] = Reply("hello").failing(.silence(.afterBody(2)))
        bench.start { $0.timeoutInterval = 5 }
        while bench.recorder.body.count < 2 { await Task.yield() }
        await clock.settle()
        clock.advance(6)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.head(200), .end(.timedOut)])
    }

    @Test(arguments: ["/", "/redirect", "/complete"])
    func `a delegate that never decides does not keep a task from its end`(target: String) async throws {
        let clock = TimedEngine()
        let recorder = Recorder(redirecting: { _, _, _ in }, disposing: { _, _ in })
        let bench = try Bench(recorder, timed: clock) { $0.timeoutIntervalForResource = 20 }
        bench.server["/"] = .script(.text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), .hold)
        bench.server["/redirect"] = Reply(status: 302, fields: ["Location": "/"])
        bench.server["/complete"] = Reply("hello")
        bench.start(target)
        while bench.recorder.calls.isEmpty { await Task.yield() }
        let pool = bench.session.pool
        while target == "/complete", await bench.onEngine({ !pool.active.isEmpty }) {}
        await clock.settle()
        clock.advance(21)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(.timedOut))
        #expect(bench.recorder.body.isEmpty)
    }

    @Test func `a delegate that never gives the first body does not keep an upload from its end`() async throws {
        let clock = TimedEngine()
        let recorder = Recorder(asking: { _ in })
        let bench = try Bench(recorder, timed: clock) { $0.timeoutIntervalForResource = 20 }
        bench.session.uploadTask(withStreamedRequest: URLRequest(url: bench.server.url())).resume()
        while bench.recorder.calls.isEmpty { await Task.yield() }
        await clock.settle()
        clock.advance(21)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.needsBody, .end(.timedOut)])
    }

    /// With an HTTP proxy, libcurl counts the connections to the proxy.
    @Test func `a task that waits for a connection to a proxy does not time out`() async throws {
        let clock = TimedEngine()
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        let gate = Gate()
        proxy["http://a.test/"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), .wait(gate), .text("llo"))
        proxy["http://b.test/"] = Reply("world")
        let bench = try Bench(timed: clock) {
            $0.timeoutIntervalForRequest = 10
            $0.httpMaximumConnectionsPerHost = 1
            $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port)]
        }
        let first = bench.start { $0.url = URL(string: "http://a.test/") }
        while bench.recorder.body.count < 2 { await Task.yield() }
        first.suspend()
        bench.start { $0.url = URL(string: "http://b.test/") }
        await clock.settle()
        clock.advance(11)
        await clock.settle()
        #expect(bench.recorder.calls == [.head(200)])
        first.resume()
        gate.open()
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.body == Data("helloworld".utf8))
    }

    @Test func `the whole has its own limit, also for tasks that wait for a connection`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) {
            $0.timeoutIntervalForRequest = 1000
            $0.timeoutIntervalForResource = 20
            $0.httpMaximumConnectionsPerHost = 1
        }
        bench.server["/"] = Reply().failing(.silence(.beforeHead))
        bench.start()
        bench.start()
        try await bench.server.waitForRequests(1)
        await clock.settle()
        clock.advance(21)
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.calls == [.end(.timedOut), .end(.timedOut)])
    }

    @Test func `interim heads are no progress`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) { $0.timeoutIntervalForRequest = 10 }
        bench.server["/"] = Reply().failing(.silence(.beforeHead))
        let task = bench.start()
        try await bench.server.waitForRequests(1)
        clock.advance(6)
        await clock.settle()
        let line = Array("HTTP/1.1 103 Early Hints\r\n".utf8)
        let end = Array("\r\n".utf8)
        clock.engine.perform {
            for line in [line, end] { line.withUnsafeBytes { _ = task.core.transfer?.receiveLine($0) } }
        }
        clock.advance(5)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.end(.timedOut)])
    }

    @Test func `a slow delegate and a suspended task do not time out`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) { $0.timeoutIntervalForRequest = 10 }
        let gate = Gate()
        bench.server["/"] = Reply("hello").waiting(for: gate)
        let task = bench.start()
        try await gate.waitForArrivals()
        task.suspend()
        #expect(task.state == .suspended)
        await clock.settle()
        clock.advance(100)
        await clock.settle()
        #expect(bench.recorder.calls.isEmpty)
        gate.open()
        task.resume()
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
    }
}
