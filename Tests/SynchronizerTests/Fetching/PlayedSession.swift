import Foundation
import HTTPCaching

@testable import Synchronizer

/// A cache that finds by URL alone, whatever the request says, as Apple's does; and may remove a little later.
final class URLKeyedCache: URLCache, @unchecked Sendable {  // its state is Locked
    private let stored = Locked<(responses: [URL: CachedURLResponse], isLate: Bool)>(([:], false))

    var all: [CachedURLResponse] { stored.withLock { Array($0.responses.values) } }

    /// From now on nothing is removed, until this is called again.
    func removeLate(_ isLate: Bool) { stored.withLock { $0.isLate = isLate } }

    /// Has something done after the next lookup, before its result is known.
    let afterLookup = Locked<(@Sendable () -> Void)?>(nil)

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        let found = stored.withLock { stored in request.url.flatMap { stored.responses[$0] } }
        afterLookup.withLock { $0.take() }?()
        return found
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let url = request.url else { return }
        stored.withLock { $0.responses[url] = cachedResponse }
    }

    override func removeCachedResponse(for request: URLRequest) {
        stored.withLock { stored in
            if let url = request.url, !stored.isLate { stored.responses[url] = nil }
        }
    }

    override func removeAllCachedResponses() {
        stored.withLock { $0.responses = [:] }
    }
}

/// Plays Apple's `URLSession` over a fake network: it finds by URL in its cache, does what the policy says, validates by
/// entity tag, follows redirects, and asks what to store.
final class PlayedSession: NativeTransport {
    let cache = URLKeyedCache(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
    let network = FakeTransport()
    /// As a subclass of the delegate that does not call `super`.
    let bypassesDelegate = Locked(false)
    private let forgets = Locked(false)
    let injection: LifetimeInjection
    private let time: any TimeSource

    init(cacheTime: TimeInterval?, time: any TimeSource) {
        injection = LifetimeInjection(cacheTime: cacheTime)
        self.time = time
    }

    /// All is evicted before the next request is looked up.
    func forgetsOnce() { forgets.withLock { $0 = true } }

    /// The requests that the server has received.
    var asked: [URLRequest] { network.requests }

    func interrupt() { network.interrupt() }

    func sessionHeaders(for request: URLRequest) -> [String: String] { network.sessionHeaders(for: request) }

    func perform(
        _ request: URLRequest, cacheTime: TimeInterval?, receive: @escaping @Sendable (NativeEvent) -> Void
    ) -> any Cancellable {
        let isForgotten = forgets.withLock { forgets in
            defer { forgets = false }
            return forgets
        }
        if isForgotten { cache.removeAllCachedResponses() }
        let transfer = PlayedTransfer(cacheTime, receive)
        perform(request, transfer)
        return transfer
    }

    private func perform(_ request: URLRequest, _ transfer: PlayedTransfer) {
        let looksUp = CachePolicy(request.cachePolicy).looksUp && request.httpMethod == "GET"
        let found = looksUp ? cache.cachedResponse(for: request) : nil
        switch request.cachePolicy {
        case .returnCacheDataDontLoad where found == nil:
            transfer.report(.transfer(.finished(URLError(.resourceUnavailable))))
        case .returnCacheDataDontLoad, .returnCacheDataElseLoad:
            if let found { answer(transfer, found) } else { load(request, transfer) }
        case .useProtocolCachePolicy:
            if let found, isFresh(found) { answer(transfer, found) } else { load(request, transfer, validating: found) }
        default: load(request, transfer)
        }
    }

    private func answer(_ transfer: PlayedTransfer, _ found: CachedURLResponse) {
        transfer.report(.transfer(.response(ResponseHead(found.response))))
        transfer.report(.transfer(.data(found.data)))
        transfer.report(.servedFromSessionCache)
        transfer.report(.transfer(.finished(nil)))
    }

    private func isFresh(_ found: CachedURLResponse) -> Bool {
        guard let head = found.response as? HTTPURLResponse else { return false }
        let fields = HTTPFields(of: head)
        guard let age = fields["Date"].flatMap({ HTTPDate.parse($0, at: time.now) }).map(time.now.timeIntervalSince),
            let lifetime = CacheControl(fields).maxAge
        else { return false }
        return age < lifetime
    }

    private func load(_ request: URLRequest, _ transfer: PlayedTransfer, validating found: CachedURLResponse? = nil) {
        var conditional = request
        let tag = (found?.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag")
        if let tag { conditional.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        let arriving = Locked<(head: ResponseHead?, pieces: [Data])>((nil, []))
        transfer.below = network.send(conditional) { [self] event in
            switch event {
            case .response(let head): arriving.withLock { $0.head = head }
            case .data(let data): arriving.withLock { $0.pieces.append(data) }
            case .finished(let error):
                let (head, pieces) = arriving.withLock { $0 }
                if let head, error == nil {
                    return arrived(head, pieces: pieces, of: request, for: transfer, found: found)
                }
                if let head { transfer.report(.transfer(.response(head))) }
                for piece in pieces { transfer.report(.transfer(.data(piece))) }
                transfer.report(.transfer(event))
            default: transfer.report(.transfer(event))
            }
        }
    }

    private func arrived(
        _ received: ResponseHead, pieces: [Data], of request: URLRequest, for transfer: PlayedTransfer,
        found: CachedURLResponse?
    ) {
        guard let head = received.httpResponse else { return }
        if let next = request.redirected(by: head) {
            transfer.report(.redirected(by: received, to: next))
            return perform(next, transfer)
        }
        var pieces = pieces
        var whole = CachedURLResponse(response: head, data: pieces.reduce(Data(), +))
        if head.statusCode == 304, let found, let old = found.response as? HTTPURLResponse, let url = old.url {
            var fields = HTTPFields(of: old)
            fields.replace(with: HTTPFields(of: head))
            whole = CachedURLResponse(
                response: ResponseHead(url: url, status: 200, fields: fields).urlResponse, data: found.data)
            pieces = [found.data]
        }
        transfer.report(.transfer(.response(ResponseHead(whole.response))))
        for piece in pieces { transfer.report(.transfer(.data(piece))) }
        store(whole, of: request, for: transfer)
        transfer.report(.transfer(.finished(nil)))
    }

    private func store(_ whole: CachedURLResponse, of request: URLRequest, for transfer: PlayedTransfer) {
        guard request.httpMethod == "GET" else { return }
        if bypassesDelegate.withLock({ $0 }) { return cache.storeCachedResponse(whole, for: request) }
        let decision = StoringDecision(injection.injected(into: whole.proposing(cacheTime: transfer.cacheTime)))
        transfer.report(.storing(decision))
        if let stored = decision.decided { cache.storeCachedResponse(stored, for: request) }
    }
}

private final class PlayedTransfer: Cancellable {
    private let state: Locked<(receive: (@Sendable (NativeEvent) -> Void)?, below: (any Transfer)?)>

    let cacheTime: TimeInterval?

    init(_ cacheTime: TimeInterval?, _ receive: @escaping @Sendable (NativeEvent) -> Void) {
        self.cacheTime = cacheTime
        state = Locked((receive, nil))
    }

    var below: (any Transfer)? {
        get { state.withLock { $0.below } }
        set { state.withLock { $0.below = newValue } }
    }

    func report(_ event: NativeEvent) { state.withLock { $0.receive }?(event) }

    func cancel() {
        let below = state.withLock { state in
            defer { state = (nil, nil) }
            return state.below
        }
        below?.cancel()
    }
}
