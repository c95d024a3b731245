import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// A token that expires, and the hook that refreshes it.
private final class Account: Sendable {
    let valid = Locked("t2")
    /// The requests that the hook was called with.
    let calls = Collector<URLRequest>()
    private let admissions = Collector<Bool>()
    private let waits: Bool

    init(waits: Bool = false) {
        self.waits = waits
    }

    func admit() { admissions.append(true) }

    func authenticate(_ request: URLRequest) async throws -> URLRequest? {
        calls.append(request)
        let token = valid.withLock { $0 }
        if waits { try await admissions.wait(for: 1) }
        var request = request
        request.setValue(token, forHTTPHeaderField: "Authorization")
        return request
    }
}

private struct Refused: Error {}

@Suite("Configuration.authenticate", .bounded)
struct AuthenticateTests {
    private let bench: Workbench
    private let account = Account()

    init() throws {
        bench = try Workbench()
        protect(bench.server, account)
    }

    private func protect(_ server: ScriptedServer, _ account: Account, status: Int = 401) {
        server.handle("/x") { request in
            guard request["Authorization"] == account.valid.withLock({ $0 }) else {
                return Reply("who are you?", status: status, fields: ["Cache-Control": "no-store"])
            }
            return Reply(request.target, fields: ["Cache-Control": "max-age=100"])
        }
    }

    private func resource(_ number: Int = 0, token: String = "t1", at server: ScriptedServer? = nil) -> DataResource {
        var request = URLRequest(url: (server ?? bench.server).url("/x?\(number)"))
        request.setValue(token, forHTTPHeaderField: "Authorization")
        return DataResource(request: request)
    }

    private func synchronizer(
        _ account: Account, _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) -> Synchronizer {
        bench.synchronizer { configuration in
            configuration.authenticate = { request, _ in try await account.authenticate(request) }
            change(&configuration)
        }
    }

    /// Waits until these loads of the server have been refused, and wait for the hook.
    private func waitForRefusals(_ count: Int, by synchronizer: Synchronizer) async throws {
        try await waitUntil("\(count) loads wait for the hook") {
            synchronizer.loader.state.withLock { $0.authentications.waiting.values.map(\.count) } == [count]
        }
    }

    @Test("sends a refused request again with the new token, however the load is started", arguments: LoadWay.allCases)
    func refreshed(way: LoadWay) async throws {
        let synchronizer = synchronizer(account)
        let body = try await way.load(resource(), with: synchronizer)
        #expect(body == nil || body == Data("/x?0".utf8))
        try await bench.server.waitForRequests(2)
        if way.isPrefetch { try await waitUntil("it is loaded") { synchronizer.prefetchStatistics.loaded == 1 } }
        #expect(bench.server.requests.map { $0["Authorization"] } == ["t1", "t2"])
        #expect(account.calls.elements.map { $0.value(forHTTPHeaderField: "Authorization") } == ["t1"])
        #expect(synchronizer.cachedObject(for: resource()) == nil, "the response is for the new token")
        #expect(
            try await synchronizer.loaded(resource(token: "t2")).source == (way == .prefetchToDisk ? .cache : .memory))
    }

    @Test("is called once for all loads of an origin, also for those that are refused later")
    func once() async throws {
        let account = Account(waits: true)
        let late = Gate()
        protect(bench.server, account)
        bench.server.enqueue(Reply("late", status: 401).waiting(for: late), for: "/x?late")
        bench.server.enqueue(Reply("who are you?", status: 401), for: "/x?late")
        var lateRequest = resource().request()
        lateRequest.url = bench.server.url("/x?late")
        let synchronizer = synchronizer(account) { $0.maximumLoadsPerHost = 12 }
        let slow = Task { [lateRequest] in try await synchronizer.load(DataResource(request: lateRequest)) }
        try await late.waitForArrivals(1)
        let loads = (0..<8).map { number in Task { try await synchronizer.load(resource(number)) } }
        try await waitForRefusals(8, by: synchronizer)
        account.admit()
        for (number, load) in loads.enumerated() { #expect(try await load.value == Data("/x?\(number)".utf8)) }
        #expect(account.calls.count == 1)
        late.open()
        #expect(try await slow.value == Data("/x?late".utf8))
        let afterwards = try await synchronizer.load(resource(99))
        #expect(afterwards == Data("/x?99".utf8), "it still has the old token")
        #expect(account.calls.count == 2, "once more for the load that was refused with the new token")
    }

    @Test("is called once for each token, so that no user gets another's")
    func users() async throws {
        let bench = bench
        bench.server.handle("/x") { request in
            let token = request["Authorization"] ?? ""
            return token.hasSuffix("new") ? Reply(token) : Reply("no", status: 401)
        }
        let synchronizer = bench.synchronizer { configuration in
            configuration.authenticate = { request, _ in
                var request = request
                let old = request.value(forHTTPHeaderField: "Authorization") ?? ""
                request.setValue(old + "-new", forHTTPHeaderField: "Authorization")
                return request
            }
        }
        let loads = ["ann", "bob", "ann", "bob"].enumerated().map { number, user in
            Task { try await synchronizer.load(resource(number, token: user)) }
        }
        var bodies: [String] = []
        for load in loads { bodies.append(String(decoding: try await load.value, as: UTF8.self)) }
        #expect(bodies == ["ann-new", "bob-new", "ann-new", "bob-new"])
    }

    @Test(
        "fails all waiting loads with its error, unchanged; nil leaves each its own response", arguments: [true, false])
    func failing(throwing: Bool) async throws {
        let calls = Collector<Bool>()
        let go = Collector<Bool>()
        let synchronizer = bench.synchronizer { configuration in
            configuration.authenticate = { _, _ in
                calls.append(true)
                try await go.wait(for: 1)
                if throwing { throw Refused() }
                return nil
            }
        }
        let loads = (0..<3).map { number in Task { try await synchronizer.load(resource(number)) } }
        try await waitForRefusals(3, by: synchronizer)
        go.append(true)
        for (number, load) in loads.enumerated() {
            let error = await #expect(throws: (any Error).self) { try await load.value }
            if throwing {
                #expect(error is Refused)
            } else {
                #expect((error as? SynchronizerError)?.context.body == Data("who are you?".utf8))
                #expect((error as? SynchronizerError)?.url == bench.server.url("/x?\(number)"))
            }
        }
        #expect(calls.count == 1)
    }

    @Test("gets the response of a proxy, too")
    func proxy() async throws {
        protect(bench.server, account, status: 407)
        #expect(try await synchronizer(account).load(resource()) == Data("/x?0".utf8))
    }

    @Test("sends a load again three times at most")
    func limit() async throws {
        bench.server["/x"] = Reply("never", status: 401)
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer(account).load(resource()) }
        #expect((error?.context.response as? HTTPURLResponse)?.statusCode == 401)
        #expect(bench.server.counts.requests == 4 && account.calls.count == 3)
    }

    @Test("sees no response of another origin, and its token does not go there")
    func redirects() async throws {
        let other = try ScriptedServer { Reply($0["Authorization"] ?? "anonymous", status: 401) }
        bench.server["/away"] = .redirect(to: other.url("/there").absoluteString)
        var request = resource().request()
        request.url = bench.server.url("/away")
        let away = DataResource(request: request)
        await #expect(throws: SynchronizerError.self) { try await synchronizer(account).load(away) }
        #expect(account.calls.count == 0)
        #expect(other.requests.map { $0["Authorization"] } == [nil])

        bench.server["/next"] = .redirect(to: "/x?next")
        request.url = bench.server.url("/next")
        let next = DataResource(request: request)
        #expect(try await synchronizer(account).load(next) == Data("/x?next".utf8))
    }

    @Test("goes on if its loads are cancelled, and later loads use its token")
    func cancelling() async throws {
        let account = Account(waits: true)
        protect(bench.server, account)
        let synchronizer = synchronizer(account)
        let load = Task { try await synchronizer.load(resource()) }
        try await account.calls.wait(for: 1)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        let next = Task { try await synchronizer.load(resource(1)) }
        try await bench.server.waitForRequests(2)
        account.admit()
        #expect(try await next.value == Data("/x?1".utf8))
        #expect(account.calls.count == 1)
        try await waitUntil("idle") { synchronizer.loader.state.withLock { $0.machine.isIdle && $0.receivers.isEmpty } }
    }

    @Test("is called again if everything is removed before it returns: the token may be the old user's")
    func removingAll() async throws {
        let bench = bench
        bench.server.handle("/x") { $0["Authorization"].map { Reply($0) } ?? Reply("who are you?", status: 401) }
        let anonymous = DataResource(url: bench.server.url("/x"))
        let account = Account(waits: true)
        let synchronizer = synchronizer(account)
        let load = Task { try await synchronizer.load(anonymous) }
        try await account.calls.wait(for: 1)
        synchronizer.removeAll()
        account.valid.withLock { $0 = "new" }
        account.admit()
        #expect(try await load.value == Data("new".utf8))
        #expect(try await synchronizer.load(anonymous) == Data("new".utf8))
        #expect(bench.server.requests.compactMap { $0["Authorization"] } == ["new", "new"])
    }

    @Test("may load the new token with the same synchronizer, whose refusal it gets")
    func nested() async throws {
        bench.server["/token"] = Reply("expired", status: 401)
        let box = Locked<Synchronizer?>(nil)
        let token = DataResource(url: bench.server.url("/token"))
        let synchronizer = bench.synchronizer { configuration in
            configuration.authenticate = { request, _ in
                _ = try await box.withLock { $0 }?.load(token)
                return request
            }
        }
        box.withLock { $0 = synchronizer }
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource()) }
        #expect(error?.url == token.request().url, "the error of the hook")
        box.withLock { $0 = nil }
    }

    @Test("may return a request without a cache policy, which has that of the session")
    func policy() async throws {
        let url = bench.server.url("/x")
        let synchronizer = bench.synchronizer { configuration in
            configuration.sessionConfiguration.requestCachePolicy = .returnCacheDataDontLoad
            configuration.authenticate = { _, _ in URLRequest(url: url) }
        }
        // The first request may use the network.
        let refused = DataResource(request: URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData))
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(refused) }
        guard case .notCached? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(bench.server.requests.count == 1)
    }

    @Test("may log in by a cookie: requests that were refused before are sent again as they are")
    func cookies() async throws {
        let loggedIn = Locked(false)
        bench.server.handle("/x") { _ in loggedIn.withLock { $0 } ? Reply("in") : Reply("out", status: 401) }
        let calls = Collector<Bool>()
        let go = Collector<Bool>()
        let synchronizer = bench.synchronizer { configuration in
            configuration.authenticate = { request, _ in
                calls.append(true)
                try await go.wait(for: 1)
                loggedIn.withLock { $0 = true }
                return request
            }
        }
        let loads = (0..<3).map { number in Task { try await synchronizer.load(resource(number)) } }
        try await waitForRefusals(3, by: synchronizer)
        go.append(true)
        for load in loads { #expect(try await load.value == Data("in".utf8)) }
        #expect(calls.count == 1)
    }

    @Test("sends an unsafe request again, which the server has not performed, but not after a redirect")
    func unsafe() async throws {
        var request = resource().request()
        request.httpMethod = "POST"
        request.httpBody = Data("order".utf8)
        #expect(try await synchronizer(account).load(DataResource(request: request)) == Data("/x?0".utf8))
        #expect(bench.server.requests.map(\.method) == ["POST", "POST"])

        bench.server["/order"] = .redirect(to: "/x?order", status: 303)
        request.url = bench.server.url("/order")
        let ordered = DataResource(request: request)
        await #expect(throws: SynchronizerError.self) { try await synchronizer(account).load(ordered) }
        #expect(bench.server.requests.filter { $0.target == "/order" }.count == 1)
    }
}
