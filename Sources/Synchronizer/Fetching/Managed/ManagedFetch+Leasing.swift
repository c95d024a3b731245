import Foundation
import HTTPCaching

// The third stage, if the store grants leases: of all processes that need the response, one asks the server.
extension ManagedFetch {
    /// Whether a fetch has a lease for its request.
    enum LeaseStatus: Sendable {
        /// The fetch has not asked for a lease yet.
        case notRequested
        /// The fetch takes no lease: the fetch that waits for it has one, or none is taken for the request.
        case notNeeded
        /// The fetch sends its request without a lease, or has released the lease early. It still notes whether its response
        /// answers other requests.
        case without(key: String)
        case held(Lease)

        var lease: Lease? { if case .held(let lease) = self { lease } else { nil } }

        /// The key of the lease, if the fetch notes whether its response answers other requests.
        var key: String? {
            switch self {
            case .notRequested, .notNeeded: nil
            case .without(let key): key
            case .held(let lease): lease.key
            }
        }
    }

    /// Takes a lease if other processes may need the response, too.
    ///
    /// Returns whether to send the step's request now. If not, either another process sends it and this fetch waits, or the step is
    /// looked up again: another process may have stored the response in the meantime, or the session may have other cookies.
    func obtainLease(for step: FetchStep) -> Bool {
        guard let leasing = context.leasing, options.file == nil, step.trace.redirects.isEmpty,
            case .notRequested? = state.withLock({ $0?.leaseStatus }),
            let key = CacheRules.leaseKey(of: step.cacheRequest, decision: step.decision, among: step.candidates)
        else { return true }
        guard options.waited.asks(limits: leasing.limits), leasing.mayHelpOthers(key) else {
            return note(.without(key: key))
        }
        let answer = leasing.store.lease(key, for: leasing.limits.duration)
        switch LeaseDecision(answer, after: options.waited, limits: leasing.limits) {
        case .send(let lease):
            guard note(lease.map { .held($0) } ?? .without(key: key)) else { return false }
            // Asking for a lease may have taken a while.
            if hasCurrentCookies(step) { return true }
            giveLeaseBack()
            lookUpAgain(step)
        case .lookUp(let lease):
            if note(.held(lease)) { lookUpAgain(step) }
        case .wait where hasJustRemoved(step.cacheRequest.url, limits: leasing.limits):
            return note(.without(key: key))
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

    /// Notes the lease of the request. If the fetch is over, gives the lease back and returns false.
    private func note(_ status: LeaseStatus) -> Bool {
        let isOpen = state.withLock { state in
            state?.leaseStatus = status
            return state != nil
        }
        if !isOpen, let lease = status.lease { context.leasing?.store.abandon(lease) }
        return isOpen
    }

    /// Gives the lease back before the request is sent.
    private func giveLeaseBack() {
        let lease = state.withLock { $0?.takeLeaseStatus().lease }
        if let lease { context.leasing?.store.abandon(lease) }
    }

    /// Looks the request of the step up again, and runs it. A background validation continues unless the entry is fresh by now.
    func lookUpAgain(_ old: FetchStep) {
        guard options.purpose == .refresh, let step = step(from: old.again),
            case .reuseWhileRevalidating(let selection, let fields) = step.decision
        else { return run(old.again) }
        run(.step(step.refreshing(selection, fields: fields)))
    }

    /// Gives up the network slot until the holder of the lease is done. Then the load starts again with a lookup.
    private func wait(for key: String, of step: FetchStep, atMost limit: TimeInterval) {
        let isOpen = state.withLock { state in
            state?.phase = .waitingForLease(Boxed(step.withoutBodies), cancel: {})
            return state != nil
        }
        report(.waitsForLease)
        guard isOpen, options.purpose != .refresh, let store = context.leasing?.store else { return }
        let cancel = store.waitForRelease(of: key, atMost: limit) { [self] end in
            let last = state.withLock { $0.take() }
            last?.receive(.waited(end))
        }
        let isWaiting = state.withLock { state in
            guard case .waitingForLease(let step, _)? = state?.phase else { return false }
            state?.phase = .waitingForLease(step, cancel: cancel)
            return true
        }
        if !isWaiting { cancel() }
    }

    /// Releases the lease when the response has been stored, or will not be. If the response answers only one request, other
    /// requests with the key take no leases for a while.
    func release(after answer: Answer) {
        guard let leasing = context.leasing, let status = state.withLock({ $0?.takeLeaseStatus() }) else { return }
        if let lease = status.lease { leasing.store.release(lease) }
        let storing = answer.step.trace.storing
        if let key = status.key, let storing, storing != .notStored(.invalidated), answer.head.status < 500 {
            leasing.note(key, helpsOthers: answer.freshUntil > cache.time.now)
        }
    }

    /// Releases the lease as soon as the head shows that the response answers no other request: the others need not wait for
    /// its body.
    func releaseIfUseless(_ number: Int) {
        guard let leasing = context.leasing else { return }
        let exchange = state.withLock { $0?.leaseStatus.lease == nil ? nil : $0?.running(number)?.exchange }
        guard let exchange, isUseless(exchange) else { return }
        if let lease = state.withLock({ $0?.takeLease() }) { leasing.store.release(lease) }
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
    /// The status, which then begins anew.
    fileprivate mutating func takeLeaseStatus() -> ManagedFetch.LeaseStatus {
        defer { leaseStatus = .notRequested }
        return leaseStatus
    }

    /// The lease; the fetch continues without it.
    fileprivate mutating func takeLease() -> Lease? {
        guard case .held(let lease) = leaseStatus else { return nil }
        leaseStatus = .without(key: lease.key)
        return lease
    }

    /// Ends the wait for a lease, and gives back the lease that the fetch holds.
    func endLease(_ leasing: Leasing?, isCancelled: Bool = false) {
        if case .waitingForLease(_, let cancel) = phase { cancel() }
        guard let lease = leaseStatus.lease else { return }
        if isCancelled { leasing?.store.abandon(lease) } else { leasing?.store.release(lease) }
    }
}
