import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// The tests subscribe in place of a hook that returns at the worst moment. The hook itself waits until the end.
@Suite("Loads whose hooks return late", .bounded)
struct HookedLoadTests {
    let fetcher = FakeFetcher(nothingStored: true, remembers: true)
    let clock = ManualClock()
    let hook = Preparing(waits: true)
    let ends = Collector<URLError.Code?>()
    /// Called when a request is prepared, just before its load subscribes.
    let whenPrepared = Locked<(@Sendable () -> Void)?>(nil)
    let synchronizer: Synchronizer
    let request: URLRequest

    var loader: Loader { synchronizer.loader }

    init() throws {
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.time = clock
        configuration.timeoutForLoad = 10
        configuration.prepare = { [hook] in try await hook.prepare($0) }
        synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher)
        request = URLRequest(url: try #require(URL(string: "http://a.example/a")))
    }

    var receiver: LoadReceiver {
        LoadReceiver(.stored) { [ends, whenPrepared] step in
            switch step {
            case .prepared: whenPrepared.withLock { $0.take() }?()
            case .finished(_, .failure(.transport(let error, _))): ends.append((error as? URLError)?.code)
            case .finished: ends.append(nil)
            default: break
            }
        }
    }

    /// Begins a load whose caller never takes its result, as if the caller's queue were busy.
    func begin() async throws -> LoadReceiver.ID {
        let resource = DataResource(request: request)
        let job = synchronizer.job(for: resource, identity: resource.identity, priority: .normal)
        let id = synchronizer.enter(job, receiver: receiver)
        try await hook.calls.wait(for: 1)
        return id
    }

    @Test("send nothing after their time limit", arguments: [false, true])
    func timeLimit(isBetween: Bool) async throws {
        let id = try await begin()
        let expire: @Sendable () -> Void = { [clock] in clock.advance(by: 10) }
        if isBetween { whenPrepared.withLock { $0 = expire } } else { expire() }
        loader.enter(request, as: id)
        loader.lookups.sync(flags: .barrier) {}
        #expect(ends.elements == [.timedOut])
        #expect(fetcher.started == 0)
        #expect(loader.take(id))
        hook.admit()
    }

    @Test("subscribe with the priority that they have by then")
    func priority() async throws {
        let id = try await begin()
        whenPrepared.withLock { $0 = { [loader] in loader.setPriority(.veryHigh, of: [id]) } }
        loader.enter(request, as: id)
        #expect(loader.state.withLock { $0.machine.subscribers[id]?.priority } == .veryHigh)
        loader.leave(id)
        hook.admit()
    }

    enum Moment: CaseIterable {
        case duringRemoval, beforeSubscribing
    }

    @Test("are prepared again if everything is removed before they subscribe", arguments: Moment.allCases)
    func removal(_ moment: Moment) async throws {
        let id = try await begin()
        let removals = loader.state.withLock { $0.removals }
        let hasEntered = Locked<Bool?>(nil)
        let enter: @Sendable () -> Void = { [loader, request] in
            let entered = loader.enter(request, as: id, unlessRemovedSince: removals)
            hasEntered.withLock { $0 = entered }
        }
        switch moment {
        case .duringRemoval:
            fetcher.whenRemoving.withLock { $0 = enter }
            synchronizer.removeAll()
            fetcher.whenRemoving.withLock { $0 = nil }
        case .beforeSubscribing:
            whenPrepared.withLock { $0 = { [synchronizer] in synchronizer.removeAll() } }
            enter()
        }
        #expect(hasEntered.withLock { $0 } == false)
        hook.admit()
        try await hook.calls.wait(for: 2)
        try await waitUntil("the new request is sent") { fetcher.begun == ["/a"] }
        loader.leave(id)
    }

    @Test("do not use the result of authenticate if everything is removed before they subscribe again")
    func removalAfterAuthentication() async throws {
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.authenticate = { request, _ in
            var request = request
            request.setValue("Bearer old", forHTTPHeaderField: "Authorization")
            return request
        }
        let synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher)
        whenPrepared.withLock { $0 = { [weak synchronizer] in synchronizer?.removeAll() } }
        let resource = DataResource(request: request)
        let job = synchronizer.job(for: resource, identity: resource.identity, priority: .normal)
        let id = synchronizer.enter(job, mayBlock: true, receiver: receiver)
        try #require(fetcher.take("/a")).report(.finished(.failure(refused(request))))
        var next: FakeFetch?
        try await waitUntil("it is sent again") {
            next = fetcher.take("/a")
            return next != nil
        }
        #expect(next?.request.value(forHTTPHeaderField: "Authorization") == nil)
        synchronizer.loader.leave(id)
    }

    // MARK: - Loads that share a call of authenticate

    private func refused(_ request: URLRequest) throws -> SynchronizerError {
        let url = try #require(request.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil))
        return .status(response, .init(url: url, trace: LoadTrace()))
    }

    /// Its `authenticate` waits for the hook.
    private func authenticating() -> Synchronizer {
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.authenticate = { [hook] request, _ in try await hook.prepare(request) }
        return Synchronizer(configuration: configuration, fetcher: fetcher)
    }

    /// Begins a load, which the server refuses.
    private func beginRefused(_ url: String, by synchronizer: Synchronizer) throws -> LoadReceiver.ID {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.setValue("old", forHTTPHeaderField: "Authorization")
        let resource = DataResource(request: request)
        let job = synchronizer.job(for: resource, identity: resource.identity, priority: .normal)
        let id = synchronizer.enter(job, mayBlock: true, receiver: receiver)
        try #require(fetcher.take(request.url?.path ?? "")).report(.finished(.failure(refused(request))))
        return id
    }

    private func waiting(in synchronizer: Synchronizer) -> [Int] {
        synchronizer.loader.state.withLock { $0.authentications.waiting.values.map(\.count) }
    }

    @Test("share a call of authenticate, however their URLs write the origin")
    func spellings() async throws {
        let synchronizer = authenticating()
        let urls = [
            "http://a.example/0", "http://a.example:80/1", "http://A.EXAMPLE/2", "http://ann:secret@a.example/3",
        ]
        let ids = try urls.map { try beginRefused($0, by: synchronizer) }
        #expect(waiting(in: synchronizer) == [4])
        hook.admit()
        for number in urls.indices {
            var next: FakeFetch?
            try await waitUntil("it is sent again") {
                next = fetcher.take("/\(number)")
                return next != nil
            }
            #expect(next?.request.value(forHTTPHeaderField: "Authorization") == "Bearer t1")
        }
        #expect(hook.calls.count == 1)
        for id in ids { synchronizer.loader.leave(id) }
    }

    @Test("leave nothing of their refusals behind when they are cancelled, although the call of authenticate goes on")
    func cancelledRefusals() async throws {
        let synchronizer = authenticating()
        let ids = try (0..<4).map { try beginRefused("http://a.example/\($0)", by: synchronizer) }
        #expect(waiting(in: synchronizer) == [4])
        #expect(synchronizer.loader.leave(ids[0]) && synchronizer.loader.take(ids[1]))
        #expect(waiting(in: synchronizer) == [2])
        for id in ids[2...] { synchronizer.loader.leave(id) }
        #expect(waiting(in: synchronizer) == [0])
        let late = try beginRefused("http://a.example/late", by: synchronizer)
        #expect(waiting(in: synchronizer) == [1])
        hook.admit()
        try await waitUntil("the late load is sent again") { fetcher.take("/late") != nil }
        #expect(hook.calls.count == 1 && waiting(in: synchronizer).isEmpty)
        synchronizer.loader.leave(late)
    }

    @Test("do not wait for authenticate if the server refuses them when they are over")
    func refusedTooLate() throws {
        let synchronizer = authenticating()
        let resource = DataResource(request: request)
        let job = synchronizer.job(for: resource, identity: resource.identity, priority: .normal)
        let load = HookedLoad(job, receiver: receiver, hooks: synchronizer.loader.hooks, sentAt: 0)
        let hooked = synchronizer.loader.hooked(load)
        let id = synchronizer.loader.state.withLock { $0.add(hooked) }
        synchronizer.loader.leave(id)
        hooked.report(.finished(id, .failure(try refused(request))))
        #expect(waiting(in: synchronizer).isEmpty && hook.calls.count == 0)
    }

    private struct Versions: Resource {
        let base: URLRequest
        let lowDataURL: URL?
        func request() -> URLRequest { base }
        var parse: @Sendable (Data) throws -> Data { { $0 } }
    }

    @Test("request the other version if nothing is stored, unless the server may have received an unsafe request")
    func otherVersion() async throws {
        var request = request
        let low = URL(string: "http://a.example/low")
        let fetcher = FakeFetcher(nothingStored: true, remembers: true)
        let synchronizer = Synchronizer(configuration: .init(urlCache: nil), fetcher: fetcher)
        for method in ["POST", "GET"] {
            request.httpMethod = method
            let ended = Collector<Bool>()
            let resource = Versions(base: request, lowDataURL: low)
            let job = synchronizer.job(for: resource, identity: resource.identity, priority: .normal)
            let receiver = LoadReceiver { if case .finished = $0 { ended.append(true) } }
            let id = synchronizer.enter(job, mayBlock: true, receiver: receiver)
            // The network was switched off for a moment.
            let full = try #require(fetcher.take("/a"))
            full.report(.finished(.failure(.notCached(.init(url: request.url, trace: LoadTrace())))))
            try await waitUntil("the load ends or continues") { ended.count > 0 || fetcher.begun.last == "/low" }
            #expect(fetcher.begun == (method == "POST" ? ["/a"] : ["/a", "/a", "/low"]))
            synchronizer.loader.leave(id)
        }
    }
}
