import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import Testing

/// A managed fetcher between a fake store and a fake network, with a clock that is moved by hand.
struct FetchHarness {
    let store = FakeStore()
    let transport = FakeTransport()
    let clock = ManualClock()
    let fetcher: ManagedFetcher

    init(_ rules: CacheRules = CacheRules(), _ server: @escaping FakeTransport.Server = { _ in FakeReply(500) }) {
        fetcher = ManagedFetcher(transport: transport, store: store, time: clock, rules: rules)
        transport.serve(server)
    }

    /// The same answer to every request.
    init(_ reply: FakeReply) {
        self.init { _ in reply }
    }

    @discardableResult
    func load(_ request: URLRequest, limit: Int = 1 << 20) -> Events {
        let events = start(request, limit: limit)
        events.fetch?.proceed()
        return events
    }

    @discardableResult
    func load(_ url: String = "http://a.example/x", _ change: (inout URLRequest) -> Void = { _ in }) -> Events {
        load(request(url, change))
    }

    func start(_ request: URLRequest, limit: Int = 1 << 20) -> Events {
        let events = Events()
        events.fetch = fetcher.fetch(request, options: FetchOptions(maximumBodySize: limit)) { events.note($0) }
        return events
    }

    func request(_ url: String = "http://a.example/x", _ change: (inout URLRequest) -> Void = { _ in }) -> URLRequest {
        guard let url = URL(string: url) else { preconditionFailure("not a URL: \(url)") }
        var request = URLRequest(url: url)
        change(&request)
        return request
    }
}

/// What a fetch reported.
final class Events: Sendable {
    private let noted = Locked<(events: [FetchEvent], fetch: (any Fetch)?)>(([], nil))

    func note(_ event: FetchEvent) { noted.withLock { $0.events.append(event) } }

    var fetch: (any Fetch)? {
        get { noted.withLock { $0.fetch } }
        set { noted.withLock { $0.fetch = newValue } }
    }

    var all: [FetchEvent] { noted.withLock { $0.events } }

    /// Their names, in order; but for what was stored, which tests see in the store.
    var names: [String] {
        all.compactMap { event in
            switch event {
            case .stored, .notStored, .invalidated, .spooling, .offered: return nil
            case .sent: return "sent"
            case .authorized: return "authorized"
            case .waitsForLease: return "waitsForLease"
            case .waited: return "waited"
            case .needsNetwork: return "needsNetwork"
            case .redirected: return "redirected"
            case .resumed(let start, _): return "resumed after \(start)"
            case .response: return "response"
            case .received: return "received"
            case .finished: return "finished"
            }
        }
    }

    var result: Result<Fetched, SynchronizerError>? {
        all.compactMap { if case .finished(let result) = $0 { result } else { nil } }.first
    }

    var fetched: Fetched? { try? result?.get() }
    var body: String? { fetched.map { String(decoding: $0.body, as: UTF8.self) } }
    var source: LoadSource? { fetched?.trace.source }

    var error: SynchronizerError? {
        if case .failure(let error)? = result { error } else { nil }
    }

    /// The status of the error.
    var status: Int? {
        if case .status(let response, _)? = error { response.statusCode } else { nil }
    }

    var transportError: URLError.Code? {
        if case .transport(let error as URLError, _)? = error { error.code } else { nil }
    }

    /// Expects the error that names the scheme of a URL.
    func expectUnsupportedScheme(of url: String, at location: SourceLocation = #_sourceLocation) {
        guard case .invalidRequest? = error else {
            Issue.record("\(url) was asked for", sourceLocation: location)
            return
        }
        let scheme = url.prefix { $0 != ":" }
        #expect(
            error?.description.contains("the scheme \"\(scheme)\" is not supported") == true, sourceLocation: location)
    }

    func field(_ name: String) -> String? {
        (fetched?.response.urlResponse as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
    }
}
