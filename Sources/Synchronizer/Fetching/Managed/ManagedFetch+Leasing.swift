import Foundation
import HTTPCaching

// The third stage, if the store grants leases: of all processes that need the response, one asks the server.
extension ManagedFetch {
    /// What a fetch does for the other requests that its response may answer.
    struct Sharing: Sendable {
        /// Nil if the fetch neither asks for a lease nor notes whether its response answers other requests.
        var key: String?
        /// Nil if the fetch asks without a lease, or has released it.
        var lease: Lease?
    }

    /// Whether to send the step's request now. If not, either another process sends it and this fetch waits, or the step is looked
    /// up again: another process may have stored the response in the meantime, or the session may have other cookies.
    func mayAsk(_ step: FetchStep) -> Bool {
        guard let leasing = context.leasing, options.file == nil, step.trace.redirects.isEmpty,
            state.withLock({ $0.sharing == nil }),
            let key = CacheRules.sharingKey(of: step.cacheRequest, decision: step.decision, among: step.candidates)
        else { return true }
        guard options.waited.asks(limits: leasing.limits), !leasing.isUnshared(key) else {
            return share(key, under: nil)
        }
        let answer = leasing.store.lease(key, for: leasing.limits.duration)
        switch LeaseDecision(answer, after: options.waited, limits: leasing.limits) {
        case .send(let lease): return share(key, under: lease) && keepsCookies(step)
        case .lookUp(let lease):
            if share(key, under: lease) { lookUpAgain(step) }
        case .wait where hasJustRemoved(step.cacheRequest.url, limits: leasing.limits): return share(key, under: nil)
        case .wait(let limit): wait(for: key, of: step, atMost: limit)
        }
        return false
    }

    /// Whether this process removed the response so recently that the current lease may be older than the removal. Then its holder
    /// may have sent its request before the removal, and its response must not answer.
    private func hasJustRemoved(_ url: String, limits: RequestLeases) -> Bool {
        let since = cache.time.now.addingTimeInterval(-limits.duration - limits.maximumWait)
        return cache.invalidations.hasNoted(url, since: since)
    }

    /// Notes the key and the lease of the request. If the fetch is over, gives the lease back and returns false.
    private func share(_ key: String, under lease: Lease?) -> Bool {
        let isOpen = state.withLock { state in
            if state.receive != nil { state.sharing = Sharing(key: key, lease: lease) }
            return state.receive != nil
        }
        if !isOpen, let lease { context.leasing?.store.abandon(lease) }
        return isOpen
    }

    /// Whether the session still has the cookies of the step: asking for a lease may have taken a while. If not, gives the lease
    /// back, and looks the request up again with the current cookies.
    private func keepsCookies(_ step: FetchStep) -> Bool {
        if hasCurrentCookies(step) { return true }
        let sharing = state.withLock { $0.sharing.take() }
        if let lease = sharing?.lease { context.leasing?.store.abandon(lease) }
        lookUpAgain(step)
        return false
    }

    /// Looks the request of the step up again, and runs it. A background validation continues unless the entry is fresh by now.
    func lookUpAgain(_ old: FetchStep) {
        guard options.purpose == .refresh, let step = step(from: .request(old.request, old.trace)),
            case .reuseWhileRevalidating(let selection, let fields) = step.decision
        else { return run(.request(old.request, old.trace)) }
        run(.step(step.refreshing(selection, fields: fields)))
    }

    /// Gives up the network slot until the holder of the lease is done. Then the load starts again with a lookup.
    private func wait(for key: String, of step: FetchStep, atMost limit: TimeInterval) {
        let isOpen = state.withLock { state in
            guard state.receive != nil else { return false }
            state.phase = .waitingForLease(Boxed(step.withoutBodies), cancel: {})
            return true
        }
        report(.waitsForLease)
        guard isOpen, options.purpose != .refresh, let store = context.leasing?.store else { return }
        let cancel = store.waitForRelease(of: key, atMost: limit) { [self] end in
            let receive = state.withLock { state in
                defer { state = State(receive: nil, phase: .lookingUp) }
                return state.receive
            }
            receive?(.waited(end))
        }
        let isWaiting = state.withLock { state in
            guard case .waitingForLease(let step, _) = state.phase else { return false }
            state.phase = .waitingForLease(step, cancel: cancel)
            return true
        }
        if !isWaiting { cancel() }
    }

    /// Releases the lease when the response has been stored, or will not be. If the response answers only one request, other
    /// requests with the key take no leases for a while.
    func release(after answer: Answer) {
        let sharing = state.withLock { $0.sharing.take() }
        guard let sharing, let leasing = context.leasing else { return }
        if let lease = sharing.lease { leasing.store.release(lease) }
        let storing = answer.step.trace.storing
        if let key = sharing.key, let storing, storing != .notStored(.invalidated), answer.head.status < 500 {
            leasing.note(key, isShared: answer.freshUntil > cache.time.now)
        }
    }

    /// Releases the lease as soon as the head shows that the response answers no other request: the others need not wait for
    /// its body.
    func releaseIfUseless(_ number: Int) {
        guard let leasing = context.leasing else { return }
        let exchange = state.withLock { $0.sharing?.lease == nil ? nil : $0.running(number)?.exchange }
        guard let exchange, isUseless(exchange) else { return }
        if let lease = state.withLock({ $0.sharing?.lease.take() }) { leasing.store.release(lease) }
    }

    /// Whether the response will not be stored, or will have no lifetime.
    private func isUseless(_ exchange: Exchange) -> Bool {
        let received = exchange.received
        switch exchange.step.decision {
        case .complete: return false  // if it does not help, the request is sent again
        case .validate where received.status == 304: return false
        case _ where [401, 407].contains(received.status): return false  // the session may have a credential
        default: break
        }
        let objection = CacheRules.objection(
            toStoring: received.status, fields: received.fields, answering: exchange.step.cacheRequest)
        if let objection, objection != .notCacheable { return true }
        guard let head = received.head, !context.transport.mayProlong(head, cacheTime: options.cacheTime) else {
            return false
        }
        let response = StoredResponse(
            url: exchange.step.cacheRequest.url, method: "GET", selectingFields: HTTPFields(), status: received.status,
            fields: received.fields, requestTime: exchange.requestTime, responseTime: received.time)
        return objection != nil || !cache.rules.freshness(of: response, at: cache.time.now).isFresh
    }
}

extension ManagedFetch.State {
    /// Ends the wait for a lease, and gives back the lease that the fetch holds.
    func end(_ leasing: Leasing?, isCancelled: Bool = false) {
        if case .waitingForLease(_, let cancel) = phase { cancel() }
        guard let lease = sharing?.lease else { return }
        if isCancelled { leasing?.store.abandon(lease) } else { leasing?.store.release(lease) }
    }
}
