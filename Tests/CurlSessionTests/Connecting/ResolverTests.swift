import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestTraits
import Testing

@testable import CurlSession

/// A resolver whose lookups hang until they are let go.
private final class Names: Sendable {
    private let answers: [String: [String]]
    private let gates = Locked<[String: DispatchSemaphore]>([:])
    let asked = Observed<[String]>([])
    /// Lookups that are running, and the most that ran at once.
    let running = Observed((now: 0, most: 0))

    init(_ answers: [String: [String]]) {
        self.answers = answers
    }

    /// Has the lookups of a name hang.
    func hang(_ name: String) {
        gates.withLock { $0[name] = DispatchSemaphore(value: 0) }
    }

    /// Lets one of them go.
    func release(_ name: String) {
        gates.withLock { $0[name] }?.signal()
    }

    func lookUp(_ name: String) -> [String] {
        asked.update { $0.append(name) }
        running.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        defer { running.update { $0.now -= 1 } }
        gates.withLock { $0[name] }?.wait()
        return answers[name] ?? []
    }
}

@Suite(.bounded) struct ResolverTests {
    private func bench(
        _ names: Names, limit: Int = 2, configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        let timed = TimedEngine(Resolver(limit: limit) { names.lookUp($0) })
        let bench = try Bench(timed: timed, configure: configure)
        bench.server["/"] = Reply("hello")
        return bench
    }

    private func url(_ host: String, _ bench: Bench) -> URL? { URL(string: "http://\(host):\(bench.server.port)/") }

    @Test func `a name is looked up once, and its addresses are used`() async throws {
        let names = Names(["a.test": ["127.0.0.1"]])
        let bench = try bench(names)
        for _ in 0..<3 { await bench.run { $0.url = url("A.test", bench) } }
        #expect(bench.recorder.calls == Array(repeating: [.head(200), .end(nil)], count: 3).flatMap { $0 })
        #expect(names.asked.read { $0 } == ["a.test"])
        #expect(bench.server.counts.connectionsOpened == 1)
    }

    @Test func `concurrent loads share a lookup`() async throws {
        let names = Names(["a.test": ["127.0.0.1"]])
        names.hang("a.test")
        let bench = try bench(names)
        let tasks = (0..<5).map { _ in bench.start { $0.url = url("a.test", bench) } }
        _ = try await names.asked.wait(for: "a lookup") { $0.count == 1 }
        await bench.settle()
        names.release("a.test")
        await bench.recorder.waitForEnds(5)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 5)
        #expect(names.asked.read { $0 } == ["a.test"])
        #expect(tasks.allSatisfy { $0.metrics.nameLookup > 0 && $0.metrics.firstByte >= $0.metrics.nameLookup })
    }

    @Test func `lookups that hang take no more threads than allowed, and those that wait are dropped with their loads`()
        async throws
    {
        let names = Names(["good.test": ["127.0.0.1"]])
        let bench = try bench(names, limit: 2)
        for number in 0..<8 { names.hang("hang\(number).test") }
        let tasks = (0..<8).map { number in bench.start { $0.url = url("hang\(number).test", bench) } }
        _ = try await names.running.wait(for: "the threads") { $0.now == 2 }
        await bench.settle()
        for task in tasks { task.cancel() }
        await bench.recorder.waitForEnds(8)
        // The two that hang still count. The next name waits for one of them, and no thread is started for it.
        let good = bench.start { $0.url = url("good.test", bench) }
        await bench.settle()
        #expect(names.asked.read { $0.count } == 2 && good.state == .running)
        let hanging = try #require(names.asked.read { $0.first })
        names.release(hanging)
        await bench.recorder.waitForEnds(9)
        #expect(bench.recorder.calls.suffix(2) == [.head(200), .end(nil)])
        #expect(names.asked.read { $0.dropFirst(2) } == ["good.test"])
        #expect(names.running.read { $0.most } == 2)
        for name in names.asked.read({ $0 }) { names.release(name) }
    }

    @Test func `a load whose lookup hangs times out`() async throws {
        let names = Names([:])
        names.hang("hang.test")
        let clock = TimedEngine(Resolver { names.lookUp($0) })
        let bench = try Bench(timed: clock) { $0.timeoutIntervalForRequest = 10 }
        bench.start { $0.url = url("hang.test", bench) }
        _ = try await names.asked.wait(for: "a lookup") { $0.count == 1 }
        await clock.settle()
        clock.advance(11)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == [.end(.timedOut)])
        names.release("hang.test")
    }

    @Test func `a name without addresses is a host that cannot be found`() async throws {
        let names = Names([:])
        let bench = try bench(names)
        let task = await bench.run { $0.url = url("none.test", bench) }
        #expect(bench.recorder.calls == [.end(.cannotFindHost)])
        #expect(task.error?.localizedDescription == "the host none.test could not be resolved")
        #expect(names.asked.read { $0 } == ["none.test"])
    }

    @Test func `addresses and localhost are not looked up`() async throws {
        let names = Names([:])
        let bench = try bench(names)
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] { await bench.run { $0.url = url(host, bench) } }
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 3)
        #expect(names.asked.read { $0.isEmpty })
    }

    @Test(
        arguments: [
            "Upper.Test", "dot.test.", "%65scaped.test", "b\u{FC}cher.test", "B%C3%BCcher.test", "xn--bcher-kva.test",
        ])
    func `each way to write a name leads to its addresses`(host: String) async throws {
        let names = Locked<[String]>([])
        let resolver = Resolver { name in
            names.withLock { $0.append(name) }
            return ["127.0.0.1"]
        }
        let bench = try Bench(timed: TimedEngine(resolver))
        bench.server["/"] = Reply("hello")
        let target = try #require(self.url(host, bench))
        await bench.run { $0.url = target }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(names.withLock { $0 }.count == 1)
    }

    @Test(arguments: ["Upper.Test", "upper.test", "b\u{FC}cher.test", "B%C3%BCcher.test", "xn--bcher-kva.test"])
    func `names are compared in small letters and in ASCII`(host: String) throws {
        let host = try #require(URL(string: "https://\(host)/")?.host)
        #expect(["upper.test", "xn--bcher-kva.test"].contains(try #require(HostName.canonical(host))))
    }

    @Test func `several addresses are tried`() async throws {
        // No server listens at the first two addresses.
        let names = Names(["a.test": ["127.0.0.2", "::1", "127.0.0.1"]])
        let bench = try bench(names)
        let task = await bench.run { $0.url = url("a.test", bench) }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(task.metrics.remoteAddress == "127.0.0.1:\(bench.server.port)")
    }

    @Test(arguments: ["http", "socks5h", "socks5"]) func `a proxy's name is looked up`(scheme: String) async throws {
        let names = Names(["proxy.test": ["127.0.0.1"], "a.test": ["127.0.0.1"]])
        let rules = try #require(ProxyRules.Proxy("\(scheme)://proxy.test:1"))
        let exchange = try Exchange(
            URLRequest(url: try #require(URL(string: "http://a.test/"))), body: .none, idleLimit: 1, proxy: rules)
        let expected =
            [HostName(name: "proxy.test", port: 1)] + (scheme == "socks5" ? [HostName(name: "a.test", port: 80)] : [])
        #expect(exchange.namesToLookUp == expected)
        guard scheme == "http" else { return }
        let proxy = try ScriptedServer { _ in Reply("through") }
        defer { proxy.stop() }
        let bench = try bench(names) {
            $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "proxy.test", "HTTPPort": Int(proxy.port)]
        }
        await bench.run { $0.url = URL(string: "http://a.test/") }
        #expect(bench.recorder.body == Data("through".utf8))
        #expect(names.asked.read { $0 } == ["proxy.test"])
    }
}
